"""Reads events from objects in Google Cloud Storage."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from pyarrow import fs
from pydantic import Field

from lineage_bridge.inputs.files.bucket import ArrowStore, authority_of, check_machine_credentials, scheme_of, server_of
from lineage_bridge.inputs.files.files_input import FilesInput
from lineage_bridge.inputs.files.settings import BucketSettings
from lineage_bridge.inputs.input import InputKind
from lineage_bridge.sources.common.settings import Url

_HOST: Final = "storage.googleapis.com"


class GcsSettings(BucketSettings):
    """Settings of an input: a bucket. Google's default credentials are used: those that GOOGLE_APPLICATION_CREDENTIALS names, or the
    service account of the machine.
    """

    bucket: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$", description="name of the bucket")
    service_account: str = Field(default="", description="service account to impersonate; the credentials need the right to do so")
    anonymous: bool = Field(default=False, description="read a public bucket without credentials")
    endpoint_url: Url | None = Field(default=None, description="address of another server with the same API; empty: Google's")


class GcsStore(ArrowStore):
    """A folder in a bucket of Google Cloud Storage."""

    lists_folders = False

    def __init__(self, settings: GcsSettings) -> None:
        super().__init__(settings, settings.bucket, "gs")
        self._settings = settings

    @property
    def servers(self) -> Sequence[tuple[str, int]]:
        """The host and port to which the client connects: those of the endpoint in the settings, else Google's."""
        return [server_of(self._settings.endpoint_url) if self._settings.endpoint_url else (_HOST, 443)]

    def connect(self) -> Any:  # noqa: ANN401  # pyarrow has no types
        """Open pyarrow's file system for the bucket."""
        settings = self._settings
        if not settings.anonymous:
            check_machine_credentials(settings, "google", "anonymous, or the server's variable GOOGLE_APPLICATION_CREDENTIALS")
        options: dict[str, Any] = {}
        if settings.endpoint_url:
            options = {"endpoint_override": authority_of(settings.endpoint_url), "scheme": scheme_of(settings.endpoint_url)}
        if settings.service_account:
            options["target_service_account"] = settings.service_account
        limit = timedelta(seconds=max(1, round(settings.timeout_s)))
        return fs.GcsFileSystem(anonymous=settings.anonymous, retry_time_limit=limit, **options)


class GcsInput(FilesInput[GcsSettings]):
    """Reads a bucket of Google Cloud Storage."""

    lists_folders = False

    def store(self) -> GcsStore:
        """Make the store with the files of the bucket."""
        return GcsStore(self.settings)


KIND = InputKind(GcsSettings, GcsInput, "events in objects of Google Cloud Storage", "gcs")
