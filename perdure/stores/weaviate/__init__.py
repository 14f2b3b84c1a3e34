"""Long-term memory in Weaviate: records and memories, one tenant per user. Never ranks, decides or embeds."""
