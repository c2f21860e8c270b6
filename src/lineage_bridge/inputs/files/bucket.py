"""Lists and reads files in a bucket of an object store. Object stores have no symbolic links."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import urlsplit

from pyarrow import ArrowException, fs

from lineage_bridge.errors import ConfigError, ForbiddenError, MissingError, SourceError, UnreachableError
from lineage_bridge.inputs.files.listing import error_text
from lineage_bridge.inputs.files.settings import BucketSettings
from lineage_bridge.inputs.files.store import MOST_DEPTH, FileStore, FoundFile, RawFile, by_number

HINT: Final = "check the settings of the bucket, the credentials, the region and `endpoint_url`"


class BucketStore(FileStore):
    """A folder in a bucket. A file's key is derived from its path, so a renamed file counts as another file.

    `lists_folders`: each folder is listed separately; otherwise, everything below a folder is listed at once.
    """

    lists_folders = True

    def __init__(self, settings: BucketSettings, bucket: str, scheme: str) -> None:
        super().__init__(settings)
        self._scheme = scheme
        self._root = f"{bucket}/{settings.folder}".rstrip("/")

    @property
    def location(self) -> str:
        """The address of the folder."""
        return f"{self._scheme}://{self._root}"

    @property
    @abstractmethod
    def servers(self) -> Sequence[tuple[str, int]]:
        """The hosts and ports to which the store connects."""

    @abstractmethod
    def entries(self, folder: str, *, recursive: bool) -> Iterable[Any]:
        """The entries of a folder, as pyarrow's FileInfo, whose paths begin with the bucket. Raises SourceError."""

    def files(self) -> Iterator[FoundFile]:
        """List the objects in the folder."""
        self.problems = []
        self.check()
        yield from self._walk(self._root, 0) if self.lists_folders or not self.settings.recursive else self._all()

    def _walk(self, folder: str, depth: int) -> Iterator[FoundFile]:
        for info in self._listed(folder):
            path = info.path[len(self._root) + 1 :]
            if info.type == fs.FileType.Directory:
                if self.settings.recursive and depth < MOST_DEPTH and self.chooses(path, info.base_name, folder=True):
                    yield from self._walk(info.path.rstrip("/"), depth + 1)
            elif info.type == fs.FileType.File and self.chooses(path, info.base_name):
                yield _found(path, info)

    def _all(self) -> Iterator[FoundFile]:
        for info in self._listed(self._root, recursive=True):
            path = info.path[len(self._root) + 1 :]
            folders = path.split("/")[:-1]
            is_chosen = all(self.chooses("/".join(folders[: at + 1]), name, folder=True) for at, name in enumerate(folders))
            if info.type == fs.FileType.File and is_chosen and self.chooses(path, info.base_name):
                yield _found(path, info)

    def _listed(self, folder: str, *, recursive: bool = False) -> list[Any]:
        found = self.entries(folder, recursive=recursive)
        return sorted(found, key=lambda info: [by_number(part) for part in info.path.split("/")])


class ArrowStore(BucketStore):
    """A folder in a bucket, read through one of pyarrow's file systems."""

    def __init__(self, settings: BucketSettings, bucket: str, scheme: str) -> None:
        super().__init__(settings, bucket, scheme)
        self._bucket = bucket
        self._system: fs.FileSystem | None = None

    @abstractmethod
    def connect(self) -> Any:  # noqa: ANN401  # pyarrow has no types
        """Open the file system of pyarrow that reads the bucket."""

    def check(self) -> str:
        """Check that the bucket exists."""
        try:
            found = self._opened().get_file_info(self._bucket)
        except (OSError, ArrowException) as error:
            raise self._failure(error) from error
        if found.type == fs.FileType.NotFound:
            raise MissingError(f"there is no bucket {self._bucket}", HINT)
        return f"{self.location} exists"

    def open(self, found: FoundFile) -> RawFile:
        """Open an object of the bucket for reading."""
        try:
            opened: RawFile = self._opened().open_input_file(f"{self._root}/{found.path}")
        except ArrowException as error:
            raise OSError(str(error)) from error
        return opened

    def entries(self, folder: str, *, recursive: bool) -> Iterable[Any]:
        """List the entries of a folder in the bucket."""
        try:
            found: Iterable[Any] = self._opened().get_file_info(fs.FileSelector(folder, allow_not_found=True, recursive=recursive))
        except (OSError, ArrowException) as error:
            raise self._failure(error) from error
        return found

    def _opened(self) -> Any:  # noqa: ANN401  # pyarrow has no types
        self.settings.outbound.check_servers(self.servers)
        if self._system is None:
            try:
                self._system = self.connect()
            except (OSError, ArrowException, ValueError) as error:
                raise ConfigError(f"{self.location} cannot be opened: {error_text(OSError(str(error)))}", HINT) from error
        return self._system

    def _failure(self, error: Exception) -> SourceError:
        text = f"{self.location} cannot be listed: {error_text(error if isinstance(error, OSError) else OSError(str(error)))}"
        if isinstance(error, FileNotFoundError):
            return MissingError(text, HINT)
        return ForbiddenError(text, HINT) if isinstance(error, PermissionError) else UnreachableError(text, HINT)


def _found(path: str, info: Any) -> FoundFile:  # noqa: ANN401  # pyarrow has no types
    return FoundFile(path, blake2b(path.encode(), digest_size=12).hexdigest(), info.size, info.mtime_ns or 0)


def check_machine_credentials(settings: BucketSettings, cloud: str, others: str) -> None:
    """Raise ConfigError if clients may not use the credentials that the cloud gives this machine. `others` names the settings to set
    instead, for the hint.
    """
    if cloud in settings.context.withheld:
        hint = f"set {others}; an operator can allow this machine's credentials with the setting `machine_credentials`"
        raise ConfigError("the settings do not allow inputs to use the credentials of this machine", hint)


def server_of(endpoint: str) -> tuple[str, int]:
    """The host and port in an address."""
    parts = urlsplit(endpoint)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def authority_of(endpoint: str) -> str:
    """The host and port in an address, as one text."""
    return urlsplit(endpoint).netloc


def scheme_of(endpoint: str) -> str:
    """The scheme of an address, in lower case."""
    return urlsplit(endpoint).scheme
