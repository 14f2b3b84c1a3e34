"""Skills: procedures written in YAML. Owns their shape and how they are read; never runs one."""
