"""How a batch becomes memory: checked, planned, applied through the door, confirmed."""
