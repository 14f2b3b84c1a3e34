"""To be removed."""

from perdure.said import Candidate, Extraction, Extractor, Ground, Left, Said, Voice

__all__ = ["Candidate", "Extraction", "Extractor", "Ground", "Left", "Said", "Voice"]
