"""Everything kept in Redis: one connection, one set of keys, and a module for each kind of value."""
