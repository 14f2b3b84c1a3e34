"""The processes: their wiring and telemetry, the gateway to an installation, and its faces."""
