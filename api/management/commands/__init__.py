"""Commands of the agents' side: mcp and token."""
