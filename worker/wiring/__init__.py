"""Wiring: from settings and addresses to the services and activities of a process. Holds no logic."""
