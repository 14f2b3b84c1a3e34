"""The command ``perdure``: it reads what a person typed and shows the result."""
