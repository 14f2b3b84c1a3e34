"""The append-only copy on disk of every accepted write, one folder per tenant.

Recall reads it only while Weaviate is down.
"""
