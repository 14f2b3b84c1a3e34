"""The journal on disk: what was accepted, changed, settled and forgotten; one folder per tenant.

Three write it: submitting appends what was accepted, the book of consents what users consent to, the door all else.
Recall reads it only while Weaviate is down.
"""
