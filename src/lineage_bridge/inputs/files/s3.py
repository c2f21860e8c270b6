"""Reads events from objects in Amazon S3, or in a store with its API."""

from collections.abc import Sequence
from typing import Any

from pyarrow import fs
from pydantic import Field, model_validator

from lineage_bridge.inputs.files.bucket import BucketStore, authority_of, scheme_of, server_of
from lineage_bridge.inputs.files.files_input import FilesInput
from lineage_bridge.inputs.files.settings import BucketSettings
from lineage_bridge.inputs.input import InputKind
from lineage_bridge.sources.common.settings import Secret, Url, reveal


class S3Settings(BucketSettings):
    """A bucket. Without keys, the AWS SDK looks for credentials: variables, configuration files, the role of the machine."""

    bucket: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", description="name of the bucket")
    region: str = Field(default="", description="region of the bucket; empty: that of the environment")
    access_key_id: str = Field(default="", description="access key id")
    secret_access_key: Secret | None = Field(default=None, description="secret access key, as a reference")
    session_token: Secret | None = Field(default=None, description="session token of temporary keys, as a reference")
    role_arn: str = Field(default="", pattern=r"^(arn:[\w-]+:iam::\d{12}:role/.+)?$", description="role to assume")
    external_id: str = Field(default="", description="external id that the role requires")
    anonymous: bool = Field(default=False, description="read a public bucket without credentials")
    endpoint_url: Url | None = Field(default=None, description="address of another store with the API of S3; empty: the region's")
    ca_file: str = Field(default="", description="PEM file of trusted certificate authorities; empty: the system's")

    @model_validator(mode="after")
    def _one_way_in(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        if bool(self.access_key_id) != bool(self.secret_access_key):
            raise ValueError("set access_key_id and secret_access_key together")
        if sum(map(bool, (self.access_key_id, self.role_arn, self.anonymous))) > 1:
            raise ValueError("set one of access_key_id, role_arn and anonymous")
        return self


class S3Store(BucketStore):
    """A folder in a bucket of S3."""

    def __init__(self, settings: S3Settings) -> None:
        super().__init__(settings, settings.bucket, "s3")
        self._settings = settings

    @property
    def servers(self) -> Sequence[tuple[str, int]]:
        """The endpoint, or the bucket's host."""
        settings = self._settings
        if settings.endpoint_url:
            return [server_of(settings.endpoint_url)]
        region = f".{settings.region}" if settings.region else ""
        return [(f"{settings.bucket}.s3{region}.amazonaws.com", 443)]

    def connect(self) -> Any:  # noqa: ANN401  # pyarrow has no types
        """The file system."""
        settings = self._settings
        options: dict[str, Any] = {
            "region": settings.region or None,
            "access_key": settings.access_key_id or None,
            "secret_key": reveal(settings.secret_access_key) if settings.secret_access_key else None,
            "session_token": reveal(settings.session_token) if settings.session_token else None,
            "role_arn": settings.role_arn or None,
            "external_id": settings.external_id or None,
            "tls_ca_file_path": settings.ca_file or None,
        }
        if settings.endpoint_url:
            options |= {"endpoint_override": authority_of(settings.endpoint_url), "scheme": scheme_of(settings.endpoint_url)}
        given = {name: value for name, value in options.items() if value is not None}
        return fs.S3FileSystem(
            anonymous=settings.anonymous, request_timeout=settings.timeout_s, connect_timeout=min(settings.timeout_s, 10.0), **given
        )


class S3Input(FilesInput[S3Settings]):
    """Reads a bucket of S3."""

    def store(self) -> S3Store:
        """The bucket."""
        return S3Store(self.settings)


KIND = InputKind(S3Settings, S3Input, "events in objects of Amazon S3, or of a store with its API", "s3")
