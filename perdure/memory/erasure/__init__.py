"""Erasing a user: everything that the stores have of them, and whatever an older copy brings back."""
