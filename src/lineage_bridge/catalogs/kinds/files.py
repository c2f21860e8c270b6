"""The target that writes files with one OpenLineage event per line, for other programs to collect."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated

import msgspec
from filelock import FileLock
from pydantic import AfterValidator, Field

from lineage_bridge.catalogs.events import digest, in_form, key_of
from lineage_bridge.catalogs.settings import EventSettings
from lineage_bridge.catalogs.target import DONE, Expressed, Json, ObjectKey, Operation, Outcome, Target, TargetKind
from lineage_bridge.errors import SourceError
from lineage_bridge.model.sources import SourceCheck

_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


def _file(path: str) -> str:
    if not all(_PART.fullmatch(part) for part in path.split("/")) or len(path) > 200:
        raise ValueError("use a path of letters, digits and . _ - below the folder of published files, such as catalog/lineage.ndjson")
    return path


class FileSettings(EventSettings):
    """Settings of a target: the path of the file."""

    file: Annotated[str, AfterValidator(_file)] = Field(
        default="lineage.ndjson", description="path of the file below `published` in the data folder"
    )

    @property
    def destination(self) -> str:
        """The text that identifies the target: the file."""
        return self.file


class FileTarget(Target[FileSettings]):
    """Keeps one line for each object. The file is replaced as a whole, so readers see all of a batch or nothing of it; other lines stay."""

    deletes = True
    reads = True
    batch = 5000

    def __init__(self, name: str, settings: FileSettings, folder: Path) -> None:
        super().__init__(name, settings.model_copy(update={"at_once": 1}))
        self._path = folder / settings.file

    def express(self, event: Json) -> Expressed:
        """Convert an event to the form in the file: unchanged or, depending on the settings, as a completed run."""
        return in_form(event, self.settings.events)

    def visible(self, event: Json) -> str:
        """The digest of the whole event, because all of it can be read back."""
        return digest(event)

    def read(self, keys: Iterable[ObjectKey]) -> Mapping[ObjectKey, str]:
        """The objects in the file, each with the digest of its event."""
        asked = frozenset(keys)
        return {key: digest(event) for key, event, _ in self._lines() if key is not None and key in asked}

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Replace the file by one with the changed lines. Raises SourceError."""
        changed = {operation.key: operation.body for operation in operations}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self._path.with_name(f".{self._path.name}.lock")):  # other targets may have this file
                self._replace(changed)
        except OSError as error:
            raise SourceError(f"{self._path} cannot be written: {error.strerror}", "allow the server's user to write it") from error
        return [DONE for _ in operations]

    def _replace(self, changed: Mapping[ObjectKey, bytes]) -> None:
        lines = [line for key, _, line in self._lines() if key not in changed]
        lines += [body for body in changed.values() if body]
        with NamedTemporaryFile(dir=self._path.parent, prefix=".", delete=False) as file:
            try:
                file.writelines(line + b"\n" for line in lines)
                file.flush()
                os.fchmod(file.fileno(), 0o640)
                os.fsync(file.fileno())
                Path(file.name).replace(self._path)
            except OSError:
                Path(file.name).unlink(missing_ok=True)
                raise

    def test(self) -> list[SourceCheck]:
        """Check whether the folder can be written and the file can be read."""
        folder = next(folder for folder in self._path.parents if folder.exists())
        works = os.access(folder, os.W_OK)
        found = [SourceCheck("folder", works, f"{folder} can{'' if works else 'not'} be written")]
        try:
            ours = sum(key is not None for key, _, _ in self._lines())
        except SourceError as error:
            return [*found, SourceCheck("file", works=False, message=str(error))]
        return [*found, SourceCheck("file", works=True, message=f"{self._path} has {ours} events")]

    def _lines(self) -> Iterator[tuple[ObjectKey | None, Json, bytes]]:
        """Each line of the file with its event and key; None as the key if the line is not an event."""
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise SourceError(f"{self._path} cannot be read: {error.strerror}", "allow the server's user to read it") from error
        for line in filter(None, content.split(b"\n")):
            yield *_parsed(line), line


def _parsed(line: bytes) -> tuple[ObjectKey | None, Json]:
    try:
        event = msgspec.json.decode(line)
        return key_of(event), event
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError):
        return None, {}


KIND = TargetKind(FileSettings, FileTarget, "a file with one OpenLineage event on each line")
