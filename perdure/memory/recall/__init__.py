"""Recall over all tiers: one call, one context block, an explanation of each score. Never writes."""
