"""Skills in YAML and their tools, shipped as examples that really run."""
