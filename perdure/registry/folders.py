"""Definitions in folders, each in ``<name>.yaml``; read anew each time, so that an edit counts at once."""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from perdure.documents import unreadable
from perdure.errors import InvalidInput
from perdure.suggestions import nearest
from perdure.yaml_text import placed, placing


class HasName(Protocol):
    """A definition with a name."""

    @property
    def name(self) -> str:
        """Its name, which is also that of its file."""
        ...


D = TypeVar("D", bound=HasName)


class Folders(Generic[D]):
    """The definitions of one kind.

    Args:
        folders: Where they are.
        kind: What they are, for messages.
        read: Makes one of a document's text and its file's name.
        error: What is raised about one that cannot be used.
    """

    def __init__(
        self,
        folders: Iterable[Path],
        *,
        kind: str,
        read: Callable[[str, str], D],
        error: type[InvalidInput],
    ) -> None:
        self._folders = tuple(folders)
        self._kind = kind
        self._read = read
        self._error = error

    def names(self) -> list[str]:
        """The existing names, sorted."""
        return sorted({path.stem for folder in self._folders for path in folder.glob("*.yaml")})

    def get(self, name: str) -> D:
        """Read a definition.

        Raises:
            InvalidInput: When there is none of this name, with the nearest; when two folders have one, with both
                places; or when it is not well formed.
        """
        path = self.place(name)
        text = text_of(path, self._error)
        with placing(path, text):
            found = self._read(text, path.name)
            if found.name != name:
                raise self._error("name", f"is {found.name!r}", fix=f"call it {name!r}, as its file")
        return found

    @contextmanager
    def placing(self, name: str) -> Generator[None]:
        """Add the file and the line to errors about a definition that the block raises."""
        try:
            yield
        except InvalidInput as error:
            path = self.place(name)
            raise placed(error, path, text_of(path, self._error)) from None

    def place(self, name: str) -> Path:
        """Return the file of a definition.

        Raises:
            InvalidInput: When there is none of this name, with the nearest; or when two folders have one.
        """
        paths = self._files(name)
        if not paths:
            named = f"name that in perdure.toml ({self._kind}s) or in PERDURE_{self._kind.upper()}S"
            none = f"none is configured: write a {self._kind} into a folder, and {named}"
            fix = nearest(name, self.names()) or none.replace("a agent", "an agent")
            raise self._error(self._kind, f"there is no {self._kind} {name!r}", fix=fix)
        if paths[1:]:
            places = " and ".join(map(str, paths))
            raise self._error(self._kind, f"{name!r} is in {places}", fix="remove one of them, or give it another name")
        return paths[0]

    def others(self, name: str) -> list[Path]:
        """Return the files of the other definitions."""
        return sorted({path for folder in self._folders for path in folder.glob("*.yaml") if path.stem != name})

    def _files(self, name: str) -> list[Path]:
        """Return the files of a name; a folder that is given twice, in two spellings even, has it once."""
        found = (path for folder in self._folders if (path := folder / f"{name}.yaml").is_file())
        return list({path.resolve(): path for path in found}.values())


def text_of(path: Path, error: type[InvalidInput]) -> str:
    """Return the text of a file.

    Raises:
        InvalidInput: It cannot be read; of the class ``error``.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise unreadable(path, problem, error) from problem
