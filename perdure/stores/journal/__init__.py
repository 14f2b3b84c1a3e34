"""The journal on disk: what was accepted, changed, settled and forgotten; one folder per tenant.

Four write it: submitting appends accepted batches, the book of consents what users consent to, the book of members who
belongs to a team or an agent, the door everything else.
Recall reads it only while Weaviate is down.
"""
