"""Private data and secrets in a text: a module for each way of finding them, and what is left without them. Pure."""
