"""What the commands and the demonstration show in a terminal: lines, JSON, exit statuses, a task followed live."""
