"""Owns what a supervisor is told and what it answers: the two ends of its pipes. Pure."""

from typing import Literal

from localservers.find import Found
from localservers.recipes import Server
from perdure.model import Model


class Launch(Model):
    """What a supervisor is to run."""

    found: dict[Server, Found]
    worker: bool


class Report(Model):
    """One line of what a starting supervisor says."""

    kind: Literal["say", "ready", "held", "failed"]
    text: str = ""
