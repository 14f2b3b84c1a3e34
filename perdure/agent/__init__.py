"""The agent: plans, steps, questions and the state of a task. Pure except for running steps; no Temporal."""
