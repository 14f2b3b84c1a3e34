"""Audits a lock file: compares each package with what is installed, and reports one row for each."""
