"""The effects, each idempotent: one class per concern, its dependencies in the constructor."""
