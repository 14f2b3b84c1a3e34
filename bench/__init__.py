"""Measurements against hand-written floors, side by side in one run."""
