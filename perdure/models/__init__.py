"""Models: they turn text into vectors. They store nothing."""
