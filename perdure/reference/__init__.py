"""What people write in YAML, described from the models that read it: JSON Schema and a page. Reads no such file."""
