"""Looks whether an installation keeps its promises: servers, durability, keys, models, skills. Mends nothing."""

from worker.doctor.checks import Finding, examine, examine_quickly

__all__ = ["Finding", "examine", "examine_quickly"]
