"""Secrets: how a tool asks for one, where a worker finds it, and what keeps it out of everything that is written."""
