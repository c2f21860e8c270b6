"""Reads events from files in a folder of this machine. Symbolic links are ignored, so that no file outside of the folder is opened."""

import os
import stat
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo

from lineage_bridge.errors import ForbiddenError, MissingError, SourceError
from lineage_bridge.inputs.files.files_input import FilesInput
from lineage_bridge.inputs.files.settings import FilesSettings
from lineage_bridge.inputs.files.store import MOST_DEPTH, FileStore, FoundFile, RawFile, by_number
from lineage_bridge.inputs.input import InputKind
from lineage_bridge.sources.common.settings import NO_CONTEXT, SourceContext

_HINT = "add the folder to the setting `input_folders`"


def _allowed(folder: str, context: SourceContext) -> Path:
    """Resolve symbolic links in the folder's path, and check that inputs may read it. Raises ForbiddenError."""
    found = Path(folder).resolve()
    allowed = context.input_folders
    if allowed is not None and not any(found.is_relative_to(each.expanduser().resolve()) for each in allowed):
        listed = ", ".join(map(str, allowed)) or "none"
        raise ForbiddenError(f"inputs may not read {folder}: it is not below a folder of the setting input_folders ({listed})", _HINT)
    return found


def _folder(value: str, info: ValidationInfo) -> str:
    if not value.startswith("/") or "\0" in value:
        raise ValueError("the folder must be an absolute path that begins with /")
    try:
        _allowed(value, info.context if isinstance(info.context, SourceContext) else NO_CONTEXT)
    except ForbiddenError as error:
        raise ValueError(f"{error}; {error.hint}") from error
    return value


class FolderSettings(FilesSettings):
    """Settings of an input that reads files in a folder of this machine."""

    folder: Annotated[str, AfterValidator(_folder)] = Field(
        description="path of the folder; it must be below a folder of the setting input_folders"
    )
    refresh_s: float = Field(default=1.0, ge=0.1, le=3600, description="seconds between two listings")
    settle_s: float = Field(
        default=600.0,
        ge=0,
        le=86_400,
        description="seconds without a change after which an incomplete last record of a file is validated as it is",
    )


class Folder(FileStore):
    """A folder of this machine. The key of a file is its inode number, with the device number if the file is on another device than the
    folder.
    """

    precision_s = 0.05

    def __init__(self, settings: FolderSettings) -> None:
        super().__init__(settings)
        self._folder, self._context = settings.folder, settings.context

    @property
    def location(self) -> str:
        """The path of the folder."""
        return self._folder

    def check(self) -> str:
        """Open the folder."""
        _, opened = self._open_folder()
        os.close(opened)
        return f"{self._folder} may be read"

    def files(self) -> Iterator[FoundFile]:
        """List the regular files below the folder."""
        self.problems = []
        _, opened = self._open_folder()
        device = os.fstat(opened).st_dev
        linked: set[str] = set()
        for found, links in self._walk(opened, "", device, 0):
            if links > 1:
                if found.key in linked:
                    continue
                linked.add(found.key)
            yield found

    def open(self, found: FoundFile) -> RawFile:
        """Open a file, if it is still the one that was found."""
        root, opened = self._open_folder()
        os.close(opened)
        path = root / found.path
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path, flags)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or found.key.partition("@")[0] != str(status.st_ino):
            os.close(descriptor)
            raise FileNotFoundError(str(path))
        return FileIO(descriptor)

    def _open_folder(self) -> tuple[Path, int]:
        root = _allowed(self._folder, self._context)
        try:
            return root, os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise MissingError(f"there is no folder {self._folder}", "create the folder, or mount it") from error
        except OSError as error:
            raise ForbiddenError(f"{self._folder} cannot be read: {error.strerror}", "allow the server's user to read it") from error

    def _walk(self, opened: int, above: str, device: int, depth: int) -> Iterator[tuple[FoundFile, int]]:
        """The files below an open folder, each with its number of hard links. The folder is closed at the end."""
        try:
            try:
                with os.scandir(opened) as entries:
                    listed = sorted(entries, key=lambda entry: by_number(entry.name))
            except OSError as error:
                raise SourceError(
                    f"{self._folder}/{above} cannot be listed: {error.strerror}", "allow the server's user to read this folder"
                ) from error
            for entry in listed:
                yield from self._entry(opened, entry, above, device, depth)
        finally:
            os.close(opened)

    def _entry(self, opened: int, entry: "os.DirEntry[str]", above: str, device: int, depth: int) -> Iterator[tuple[FoundFile, int]]:
        path = above + entry.name
        if entry.is_dir(follow_symlinks=False):
            if self.settings.recursive and depth < MOST_DEPTH and self.chooses(path, entry.name, folder=True):
                yield from self._below(opened, entry.name, path, device, depth)
        elif self.chooses(path, entry.name):
            try:
                status = os.stat(entry.name, dir_fd=opened, follow_symlinks=False)
            except FileNotFoundError:
                return
            if stat.S_ISREG(status.st_mode):
                key = str(status.st_ino) if status.st_dev == device else f"{status.st_ino}@{status.st_dev}"
                shown = path.encode(errors="surrogateescape").decode(errors="replace") if not path.isprintable() else path
                if shown != path:
                    self.problems.append(f"{shown}: files with such names are not read")
                    return
                yield FoundFile(path, key, status.st_size, status.st_mtime_ns), status.st_nlink
            elif stat.S_ISLNK(status.st_mode):
                self.problems.append(f"{path} is a symbolic link; symbolic links are not followed")

    def _below(self, opened: int, name: str, path: str, device: int, depth: int) -> Iterator[tuple[FoundFile, int]]:
        try:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=opened)
        except FileNotFoundError:
            return
        except OSError as error:
            self.problems.append(f"{path} cannot be read: {error.strerror}")
            return
        try:
            yield from self._walk(inner, f"{path}/", device, depth + 1)
        except SourceError as error:
            self.problems.append(str(error))


class FolderInput(FilesInput[FolderSettings]):
    """An input that reads the files in a folder of this machine."""

    def store(self) -> Folder:
        """Make the store with the files of the folder."""
        return Folder(self.settings)


KIND = InputKind(FolderSettings, FolderInput, "events in files of a folder", "folder")
