"""Reads events from objects in Amazon S3, or in a store with its API.

Objects are read range by range, each with a request of its own, so that no connection is held between two reads. Redirects are not
followed.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import Any, Final

from pyarrow import fs

from lineage_bridge.errors import MissingError, SourceError
from lineage_bridge.inputs.files.bucket import HINT, BucketStore, server_of
from lineage_bridge.inputs.files.files_input import FilesInput
from lineage_bridge.inputs.files.s3 import S3Settings
from lineage_bridge.inputs.files.store import FoundFile
from lineage_bridge.sources.common.aws.session import error_code, open_bucket_client, server_of_client, service_errors

_RIGHTS: Final = "grant s3:ListBucket on the bucket and s3:GetObject on its objects"
_RANGE: Final = re.compile(r"bytes \d+-\d+/(\d+)")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


class S3Object:
    """An object of S3 that is being read. If it is replaced after its first read, that is an error. Raises OSError."""

    def __init__(self, client: Any, bucket: str, key: str) -> None:  # noqa: ANN401  # botocore has no types
        self._client, self._named = client, {"Bucket": bucket, "Key": key}
        self._offset = 0
        self._size: int | None = None

    def read(self, size: int, /) -> bytes:
        """The next bytes of the object; none at its end."""
        if size <= 0 or (self._size is not None and self._offset >= self._size):
            return b""
        found = self._range(self._offset, size)
        self._offset += len(found)
        return found

    def seek(self, offset: int, /) -> None:
        """Move to an offset in the object."""
        self._offset = offset

    def close(self) -> None:
        """Do nothing: no connection is open between two reads."""

    def _range(self, offset: int, size: int) -> bytes:
        try:
            with service_errors(f"object {self._named['Key']}", _RIGHTS):
                answer = self._client.get_object(**self._named, Range=f"bytes={offset}-{offset + size - 1}")
                with answer["Body"] as body:
                    found: bytes = body.read(size)
        except SourceError as error:
            if error_code(error.__cause__) == "InvalidRange":
                return b""
            raise (FileNotFoundError if isinstance(error, MissingError) else OSError)(str(error)) from error
        total = _RANGE.fullmatch(answer.get("ContentRange", ""))
        if total is None:
            raise OSError("the store did not return the requested byte range")
        self._size = int(total[1])
        self._named["IfMatch"] = answer["ETag"]
        return found


class S3Store(BucketStore):
    """A folder in a bucket of S3."""

    def __init__(self, settings: S3Settings) -> None:
        super().__init__(settings, settings.bucket, "s3")
        self._settings, self._name = settings, settings.bucket
        self._made: Any = None

    @property
    def servers(self) -> Sequence[tuple[str, int]]:
        """The hosts and ports to which the client connects: those of the endpoint in the settings, else of the region."""
        endpoint = self._settings.endpoint_url
        return [server_of(endpoint) if endpoint else server_of_client(self._client())]

    def check(self) -> str:
        """Check that the bucket exists."""
        with self._errors():
            self._client().head_bucket(Bucket=self._name)
        return f"{self.location} exists"

    def open(self, found: FoundFile) -> S3Object:
        """Open an object of the bucket for reading."""
        folder = f"{self._settings.folder}/" if self._settings.folder else ""
        return S3Object(self._client(), self._name, f"{folder}{found.path}")

    def entries(self, folder: str, *, recursive: bool) -> Iterator[Any]:
        """List the objects and folders in a folder."""
        prefix = folder[len(self._name) + 1 :]
        asked = {"Bucket": self._name, "Prefix": f"{prefix}/" if prefix else "", **({} if recursive else {"Delimiter": "/"})}
        with self._errors():
            for page in self._client().get_paginator("list_objects_v2").paginate(**asked):
                for found in page.get("CommonPrefixes", ()):
                    yield fs.FileInfo(f"{self._name}/{found['Prefix'].rstrip('/')}", fs.FileType.Directory)
                for found in page.get("Contents", ()):
                    if not found["Key"].endswith("/"):
                        changed_ns = (found["LastModified"] - _EPOCH) // timedelta(microseconds=1) * 1000
                        yield fs.FileInfo(f"{self._name}/{found['Key']}", fs.FileType.File, mtime_ns=changed_ns, size=found["Size"])

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with service_errors(self.location, _RIGHTS):
                yield
        except MissingError as error:
            raise MissingError(f"there is no bucket {self._name}", HINT) from error

    def _client(self) -> Any:  # noqa: ANN401  # botocore has no types
        if self._made is None:
            self._made = open_bucket_client(self._settings, anonymous=self._settings.anonymous, ca_file=self._settings.ca_file)
        return self._made


class S3Input(FilesInput[S3Settings]):
    """Reads a bucket of S3."""

    def store(self) -> S3Store:
        """Make the store with the files of the bucket."""
        return S3Store(self.settings)
