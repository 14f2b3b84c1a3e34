"""Running one step of a task: its arguments, its effect, its result."""
