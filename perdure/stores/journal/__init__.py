"""The journal on disk: what was accepted, changed, settled and forgotten; one folder per tenant.

Submitting appends accepted batches, the book of consents what users consent to, the book of members who belongs to a
team or an agent, and the door what was changed. Repair and reconciling restore what these wrote.
Recall reads it only while Weaviate is down.
"""
