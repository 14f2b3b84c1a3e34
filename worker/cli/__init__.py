"""The command ``perdure``: it reads what a person typed, and shows what came out. Decides nothing else."""
