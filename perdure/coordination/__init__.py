"""What processes agree on through Redis: leases, claims, due dates, deletions. Keeps no memory itself."""
