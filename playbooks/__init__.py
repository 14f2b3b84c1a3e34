"""Skills in YAML and their tools: examples that run as they are."""
