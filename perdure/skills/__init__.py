"""Skills: procedures written in YAML. Owns their shape, their reading and their expressions; never runs one."""
