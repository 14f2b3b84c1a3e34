"""Changing what is remembered by its id: corrections, feedback, merging, earlier versions, and listing all of that."""
