"""What an installation has by name, in folders of YAML: agents."""
