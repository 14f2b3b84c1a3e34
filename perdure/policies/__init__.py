"""Policies: what a tool may not do here, or only with a person's approval. Owns their shape and what they decide.

Enforces nothing: the code that is about to call a tool asks, and obeys (``agent/steps/enforcement``).
"""
