"""The members that all facets have."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

Where = Literal["run", "job", "dataset", "input", "output"]
"""What carries a facet; `input` and `output` carry the facets of one run's access to a dataset."""

MAX_NAME = 8192
"""Longest namespace or name, in characters."""

Name = Annotated[str, Meta(max_length=MAX_NAME)]
Counter = int | float | None
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors that decoding a facet may raise."""


class Facet(Struct, frozen=True, gc=False, kw_only=True):
    """The members that all facets have; a tombstone (`deleted is True`) has no others."""

    producer: Any = field(default=None, name="_producer")
    schema_url: Any = field(default=None, name="_schemaURL")
    deleted: Any = field(default=None, name="_deleted")


class FacetPart(Struct, frozen=True, gc=False, kw_only=True):
    """An object inside a facet."""
