"""The stores: Weaviate, Redis, the journal on disk. They keep what they are given; no store decides anything."""
