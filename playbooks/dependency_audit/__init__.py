"""A dependency audit of a real lock file: what is locked, what is really installed, and one report row for each."""
