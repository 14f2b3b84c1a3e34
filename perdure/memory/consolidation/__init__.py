"""Consolidation: two memories that say the same become one."""
