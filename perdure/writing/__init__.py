"""How a batch becomes memory: checked, planned, applied through the one door, confirmed. Never recalls or forgets."""

from perdure.writing.checking import read_batch
from perdure.writing.writer import Writer

__all__ = ["Writer", "read_batch"]
