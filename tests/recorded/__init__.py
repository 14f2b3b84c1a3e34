"""What builds have stored and sent: a folder per release, never changed, and ``next`` for the one to come."""
