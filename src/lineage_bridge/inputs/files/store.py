"""The interface of folders and object stores: listing files and reading their bytes."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final, NamedTuple, Protocol

from lineage_bridge.inputs.files.settings import FilesSettings

MOST_DEPTH: Final = 64
"""How deep folders may be nested."""
_NUMBER: Final = re.compile(r"([0-9]+)")


class FoundFile(NamedTuple):
    """A file in a listing: its path in the folder, its key (different from the keys of all other present files), its size in bytes, and
    when it was last changed, in UTC nanoseconds.
    """

    path: str
    key: str
    size: int
    changed_ns: int

    @property
    def version(self) -> str:
        """A value that changes when the content of the file changes."""
        return f"{self.size}:{self.changed_ns}"


class RawFile(Protocol):
    """A file that is open for reading its bytes."""

    def read(self, size: int, /) -> bytes:
        """The next bytes of the file; none at its end."""

    def seek(self, offset: int, /) -> object:
        """Move to an offset in the file."""

    def close(self) -> object:
        """Close the file."""


class FileStore(ABC):
    """A folder or object store with files. `precision_s`: two changes of a file within this time may look like one."""

    precision_s: float = 2.0

    def __init__(self, settings: FilesSettings) -> None:
        self.settings = settings
        self.problems: list[str] = []

    @property
    @abstractmethod
    def location(self) -> str:
        """The address of the files, for messages."""

    @abstractmethod
    def check(self) -> str:
        """Check that the store exists and may be read; returns a description. Raises SourceError."""

    @abstractmethod
    def files(self) -> Iterator[FoundFile]:
        """List the files, folder by folder. In each folder they are sorted by name, in which numbers count as numbers.

        Raises SourceError if the folder cannot be listed; `problems` are subfolders and files that the last listing could not read.
        """

    @abstractmethod
    def open(self, found: FoundFile) -> RawFile:
        """Open a file. Raises FileNotFoundError if it no longer exists, OSError."""

    def chooses(self, path: str, name: str, *, folder: bool = False) -> bool:
        """Whether the settings select a file, or a folder that may contain files."""
        if any(_matches(path, name, glob) for glob in self.settings.exclude):
            return False
        return folder or any(_matches(path, name, glob) for glob in self.settings.include)


def _matches(path: str, name: str, glob: str) -> bool:
    return fnmatchcase(path if "/" in glob else name, glob)


def by_number(name: str) -> tuple[tuple[int, str], ...]:
    """A sort key by which numbers within names count as numbers: `2` before `10`."""
    return tuple((int(part), part) if part.isdecimal() and part.isascii() else (-1, part) for part in _NUMBER.split(name))
