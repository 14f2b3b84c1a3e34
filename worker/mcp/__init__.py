"""The MCP server: memory and tasks for any agent that speaks the Model Context Protocol. It has no rules of its own."""
