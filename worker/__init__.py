"""The process: settings, wiring, telemetry, schedules, local servers and the CLI."""
