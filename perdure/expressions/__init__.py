"""Expressions in CEL: their syntax and their evaluation. Knows no step and no store."""
