"""Policies: what a tool may not do here, or only after a person has looked. Owns their shape and what they decide.

Acts on nothing: whoever is about to call a tool asks, and obeys (``agent/steps/enforcing``).
"""
