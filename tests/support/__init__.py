"""What tests of tasks share: tools with a ledger of their effects, skills, and a worker on the real servers."""
