"""The stores: Weaviate, Redis; on disk the journal, the audit, the spool and the tenant key. They decide nothing."""
