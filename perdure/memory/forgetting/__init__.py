"""How memories are forgotten: selected by rules, guarded, tombstoned, purged or restored."""
