"""Promotion: what is worth keeping of a session goes to memory before its episodes expire."""
