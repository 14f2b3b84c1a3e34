"""Rebuilding what a store lost from the two others."""
