"""Tools of MCP servers: which servers there are, the connections to them, and their tools as steps call them."""
