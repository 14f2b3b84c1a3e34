"""Owns what a supervisor is told and what it answers: the two ends of its pipes. Pure."""

from typing import Literal

from perdure.model import Model
from worker.servers.find import Found
from worker.servers.recipes import Server


class Launch(Model):
    """What a supervisor is to run."""

    found: dict[Server, Found]
    worker: bool


class Report(Model):
    """One line of what a starting supervisor says."""

    kind: Literal["say", "ready", "held", "failed"]
    text: str = ""
