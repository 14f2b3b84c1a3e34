"""How skills have done. Pure values."""

from perdure.model import Passed


class Trials(Passed):
    """How the last tasks that ran one version of a skill ended, each counted once."""

    tasks: int = 0
    successes: int = 0
    """Those that did what the skill promises: they completed, and no judge objected."""

    @property
    def expected(self) -> float:
        """How likely its next task is to succeed: (s + 1) / (n + 2), by Laplace's rule of succession.

        >>> Trials(tasks=1, successes=1).expected < Trials(tasks=10, successes=9).expected
        True
        """
        return (self.successes + 1) / (self.tasks + 2)
