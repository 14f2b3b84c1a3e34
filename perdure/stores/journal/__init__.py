"""The journal on disk: what was accepted, changed, settled and forgotten; one folder per tenant.

Two write it: submitting appends what was accepted, the door all else. Recall reads it only while Weaviate is down.
"""
