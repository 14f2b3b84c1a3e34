"""Writes down the digest of each file of a folder: many small steps, each resumed after a crash."""
