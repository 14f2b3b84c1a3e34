"""Tasks, jobs, sweeps and recalls under random kills, stops and restarts, and a count of what came of them."""
