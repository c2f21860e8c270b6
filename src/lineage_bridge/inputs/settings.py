"""Settings that all inputs have, whatever their kind."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any

import re2
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from lineage_bridge.sources.common.settings import SourceSettings

MOST_NAMESPACES = 100
MOST_PATTERNS, MOST_PATTERN_CHARACTERS = 100, 1000
EMBEDDED, STREAM = "embedded", "stream"
"""The forms of an input: a separate process reads it into the log (`embedded`), or Spark reads it directly (`stream`)."""


def is_streamed(settings: Mapping[str, Any]) -> bool:
    """Whether these settings select the form `stream`, in which Spark reads the input."""
    return settings.get("form") == STREAM


def _globs(globs: tuple[str, ...]) -> tuple[str, ...]:
    if len(globs) > MOST_NAMESPACES or not all(globs):
        raise ValueError(f"give up to {MOST_NAMESPACES} globs, none of them empty")
    return globs


def _patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    if len(patterns) > MOST_PATTERNS or any(not 0 < len(pattern) <= MOST_PATTERN_CHARACTERS for pattern in patterns):
        raise ValueError(f"give up to {MOST_PATTERNS} regular expressions, each of 1 to {MOST_PATTERN_CHARACTERS} characters")
    for pattern in patterns:
        if problem := _problem(pattern):
            raise ValueError(f"{pattern!r} is not a regular expression of RE2: {problem}")
    if problem := _problem("|".join(map(_grouped, patterns))):
        raise ValueError(f"the regular expressions are too large together: {problem}")
    return patterns


Patterns = Annotated[tuple[str, ...], AfterValidator(_patterns)]
"""Regular expressions of RE2, whose cost is linear in the text. A pattern matches a text that begins with a match; case is ignored."""


class JobPatterns(BaseModel):
    """Patterns that select the jobs whose events an input accepts. They match names as OpenMetadata forms them: NAMESPACE-NAME.
    Excluded jobs are never included.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    include: Patterns = ()
    exclude: Patterns = ()

    def lets_pass(self, name: str) -> bool:
        """Whether events of a job with this name are accepted."""
        text = name.encode(errors="replace")
        if self.exclude and _any_of(self.exclude).match(text):
            return False
        return not self.include or bool(_any_of(self.include).match(text))


@lru_cache(100)
def _any_of(patterns: tuple[str, ...]) -> Any:  # noqa: ANN401  # re2 has no types
    """One compiled expression for all patterns. The result is cached, because compiling takes a thousand times as long as matching a
    name.
    """
    return _compiled("|".join(map(_grouped, patterns)))


def _compiled(pattern: str) -> Any:  # noqa: ANN401  # re2 has no types
    """Compile the patterns. Raises re2.error for one that RE2 does not accept."""
    options = re2.Options()
    options.case_sensitive, options.never_capture, options.log_errors = False, True, False
    return re2.compile(pattern, options)


def _grouped(pattern: str) -> str:
    r"""A pattern as a group of a longer one. If the pattern has a quotation (`\Q`) without an end, the quotation ends with the pattern."""
    group = f"(?:{pattern})"
    return rf"(?:{pattern}\E)" if _problem(group) else group


def _problem(pattern: str) -> str:
    """The reason why RE2 does not accept a pattern; empty if it does."""
    try:
        _compiled(pattern)
    except re2.error as error:
        (reason,) = error.args
        return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    return ""


class InputSettings(SourceSettings):
    """The settings that all inputs have."""

    namespaces: Annotated[tuple[str, ...], AfterValidator(_globs)] = Field(
        default=(), description="globs: events of jobs in other namespaces are rejected; empty: none are"
    )
    jobs: JobPatterns = Field(
        default=JobPatterns(),
        description="`include` and `exclude`, lists of regular expressions (RE2) that the beginning of NAMESPACE-NAME of a job matches, "
        "whatever the case: events of other jobs are left out; of a run with a parent, that of the parent's job counts",
    )
    poll_s: float = Field(default=1.0, ge=0.05, le=60, description="how many seconds to wait for records at a time")
    batch_records: int = Field(default=500, ge=1, le=10_000, description="maximum number of records that are ingested together")
    max_records_per_s: float = Field(default=0, ge=0, description="maximum number of records that are read per second; 0: no limit")
    idle_s: float = Field(
        default=0, ge=0, le=86_400, description="seconds without a record after which the connection is closed; 0: it stays open"
    )
    interval_s: float = Field(default=60.0, ge=1, le=86_400, description="seconds until a closed connection is opened again")
