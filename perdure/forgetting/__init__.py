"""How memories are let go: chosen by rules, guarded, tombstoned, purged or restored. Never recalls or writes anew."""

from perdure.forgetting.forgetter import Forgetter, Restored
from perdure.forgetting.selection import Forgetting, Guard, Letting

__all__ = ["Forgetter", "Forgetting", "Guard", "Letting", "Restored"]
