"""From what was said to what may be believed: screened, extracted, or refused with a reason. Pure but for the model."""
