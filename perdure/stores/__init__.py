"""The stores: Weaviate, Redis, the journal on disk. They keep what they are given, and decide nothing."""
