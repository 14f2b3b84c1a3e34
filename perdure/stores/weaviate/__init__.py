"""Long-term memory in Weaviate: records, memories and turns, one tenant per user. Never ranks, decides or embeds."""
