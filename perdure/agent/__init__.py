"""The agent: plans, steps, questions and the state of a task. Pure but for the running of steps; no Temporal."""
