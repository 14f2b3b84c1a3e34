"""Measurements next to hand-written code that does the same work, taking turns in one run."""
