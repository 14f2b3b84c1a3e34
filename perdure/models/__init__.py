"""Models: of language, and those that turn text into vectors."""
