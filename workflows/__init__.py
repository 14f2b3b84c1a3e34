"""What happens in which order: deterministic, no I/O."""
