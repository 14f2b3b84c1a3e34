"""Reviews a repository with a language model: finds, reads, proposes, and writes a report."""
