"""An installation's named definitions in folders of YAML: agents and prompts."""
