"""Settings of inputs that read files."""

from typing import Annotated

from pydantic import AfterValidator, Field

from lineage_bridge.inputs.settings import InputSettings

_HIDDEN = (".*", "_*", "*.tmp", "*.crc", "*.part")


def _globs(value: tuple[str, ...]) -> tuple[str, ...]:
    if not all(value):
        raise ValueError("a glob must not be empty")
    return value


Globs = Annotated[tuple[str, ...], AfterValidator(_globs)]


class FilesSettings(InputSettings):
    """Settings of an input that reads files: which files, in which format, and how often to look for new ones."""

    include: Globs = Field(default=("*",), description="globs of files to read; globs with a slash match paths, others match names")
    exclude: Globs = Field(default=_HIDDEN, description="globs of files and folders to skip, matched like those of `include`")
    recursive: bool = Field(default=True, description="whether subfolders are read")
    refresh_s: float = Field(default=10.0, ge=0.1, le=3600, description="seconds between two listings")
    settle_s: float = Field(
        default=0.0,
        ge=0,
        le=86_400,
        description="seconds without a change after which an incomplete last record of a file is validated as it is",
    )


class BucketSettings(FilesSettings):
    """Settings of an input that reads files in a bucket: the bucket, and the folder in it."""

    prefix: str = Field(default="", max_length=1024, description="folder in the bucket; empty: the whole bucket")

    @property
    def folder(self) -> str:
        """The folder, without slashes at its ends."""
        return self.prefix.strip("/")
