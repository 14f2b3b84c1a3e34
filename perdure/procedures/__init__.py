"""Running a skill's steps: what each is given, what it does, what it gives back. Knows nothing of Temporal."""
