"""The policies in some folders: as they are now, or as they were last usable. Reads files, and decides nothing."""

import threading
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path

import structlog

from perdure.errors import InvalidExpression, InvalidPolicy
from perdure.policies.shape import MOST_POLICIES, Policy, PolicySet, contradiction, read_policy
from perdure.registry.folders import text_of
from perdure.yaml_text import line_of, placing

_log = structlog.get_logger(__name__)

SETTLED_AFTER = 0.2
"""Seconds for which changed files have to stay as they are before they count; a choice: a checkout of some files takes
less."""


class PolicyLibrary:
    """The policies of an installation.

    Args:
        folders: Where they are. All of them count: none can hide another.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = tuple(folders)
        self._lock = threading.Lock()
        self._seen: Mapping[Path, str] | None = None
        self._good: PolicySet | None = None
        self._told = ""

    def current(self) -> PolicySet:
        """Return the policies that count now: those in the folders, or, where these cannot be used, the last good ones.

        It reads files, so it is called in a thread.

        Raises:
            InvalidPolicy: They cannot be used, and never could.
        """
        try:
            texts = self._texts()
            if (known := self._known(texts)) is not None:
                return known
            self._settle(texts)
            return self._taken(texts)
        except InvalidPolicy as error:
            with self._lock:
                if self._good is None:
                    raise
                self._tell(str(error))
                return self._good

    def _known(self, texts: Mapping[Path, str]) -> PolicySet | None:
        """Return the policies that count while the files say this; None: they have to be read."""
        with self._lock:
            return self._good if texts == self._seen else None

    def _taken(self, texts: Mapping[Path, str]) -> PolicySet:
        """Read what the files say, once for all calls that saw them change together.

        Raises:
            InvalidPolicy: It cannot be used.
        """
        with self._lock:
            if self._good is None or texts != self._seen:
                # Unusable files are not read again either, until they have changed.
                self._seen = texts
                self._good, self._told = policies_in(texts), ""
            return self._good

    def _settle(self, texts: Mapping[Path, str]) -> None:
        """Wait until files that have changed are no longer being written.

        Each call that sees a change waits for itself, side by side with the others: none is made under policies that
        were replaced before it, and those that see no change go on.

        Raises:
            InvalidPolicy: They change again, so that what they say now may be half of what is meant.
        """
        time.sleep(SETTLED_AFTER)
        if self._texts() != texts:
            fix = "swap the folder in one step, or wait until the write has finished"
            raise InvalidPolicy("policies", "are being changed", fix=fix)

    def read(self) -> PolicySet:
        """Read the policies that are in the folders.

        Raises:
            InvalidPolicy: A folder or a file cannot be used; with the file, the line and the fix.
        """
        return policies_in(self._texts())

    def problems(self) -> list[InvalidPolicy]:
        """Return what is wrong with each folder and each file by itself."""
        found: list[InvalidPolicy] = []
        for folder in self.folders:
            with _noted(found):
                for path, text in PolicyLibrary((folder,))._texts().items():
                    with _noted(found):
                        policies_in({path: text})
        return found

    def _tell(self, problem: str) -> None:
        if problem != self._told:
            self._told = problem
            _log.warning("policies cannot be used: those that were read before still count", problem=problem)

    def _texts(self) -> dict[Path, str]:
        found: dict[Path, str] = {}
        for folder in self.folders:
            if not folder.is_dir():
                # A folder that is not mounted says nothing about what is allowed.
                raise InvalidPolicy(str(folder), "is not a folder", fix="make it, or correct PERDURE_POLICIES")
            paths = _listed(folder)
            for path in paths:
                if path.suffix != ".yaml" and path.suffix.casefold() in (".yml", ".yaml"):
                    raise InvalidPolicy(str(path), "is not read as a policy", fix=f"call it {path.stem}.yaml")
                if path.suffix == ".yaml":
                    found[path] = text_of(path, InvalidPolicy)
            if not found.keys() & set(paths):
                fix = "mount it, or take it out of PERDURE_POLICIES: without policies, every call is let through"
                raise InvalidPolicy(str(folder), "has no policy", fix=fix)
        return found


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as problem:
        raise InvalidPolicy(
            str(folder), f"cannot be listed: {type(problem).__name__}", fix="let it be read"
        ) from problem


def policies_in(texts: Mapping[Path, str]) -> PolicySet:
    """Return the policies of some files.

    Raises:
        InvalidPolicy: Naming the file, the line and the fix; of two that contradict each other, both.
    """
    if len(texts) > MOST_POLICIES:
        raise InvalidPolicy("policies", f"are {len(texts)}", fix=f"at most {MOST_POLICIES}: put some together")
    found = [(path, _read(path, text)) for path, text in texts.items()]
    if wrong := contradiction([policy for _, policy in found]):
        *pair, why = wrong
        places = [f"{path}:{line_of(texts[path], 'when')}" for path, policy in found if policy in pair]
        fix = "remove one of them, or change its condition or its exceptions"
        raise InvalidPolicy(" and ".join(places), why, fix=fix)
    return PolicySet.of(policy for _, policy in found)


def _read(path: Path, text: str) -> Policy:
    with placing(path, text):
        try:
            policy = read_policy(text, path.name)
        except InvalidExpression as error:
            raise InvalidPolicy(error.field, error.problem, fix=error.fix) from None
        if policy.name != path.stem:
            raise InvalidPolicy("name", f"is {policy.name!r}", fix=f"call it {path.stem!r}, as its file")
    return policy


@contextmanager
def _noted(found: list[InvalidPolicy]) -> Generator[None]:
    """Add what is refused to a list."""
    try:
        yield
    except InvalidPolicy as error:
        found.append(error)
