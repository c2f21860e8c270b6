"""Erasures: what an operator wants to be erased, and the proof that it was."""

from typing import Final

import msgspec

PERSON, RUN, DATASET, NAMESPACE = "person", "run", "dataset", "namespace"
KINDS: Final = (PERSON, RUN, DATASET, NAMESPACE)
"""What can be erased: whatever contains a person's identifier; the events of a run; the events that name a dataset, or a namespace."""
WAITING, RUNNING, DONE, INCOMPLETE, FAILED = "waiting", "running", "done", "incomplete", "failed"
STATUSES: Final = (WAITING, RUNNING, DONE, INCOMPLETE, FAILED)


class ErasureRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """What to erase. `name`: a person's identifier, a run's UUID, or the name of a dataset. `namespace`: that of a dataset, or a whole one.

    With `dry_run`, nothing is changed: the report says what would be erased.
    """

    id: str
    kind: str
    name: str = ""
    namespace: str = ""
    dry_run: bool = False


class FileCounts(msgspec.Struct):
    """The numbers of records of a file of the log or of the archive that were erased, or masked beside their bodies."""

    erased: int = 0
    masked: int = 0


class ErasureReport(msgspec.Struct, omit_defaults=True):
    """The proof of an erasure. It does not contain what was erased, only its `digest`: an HMAC-SHA256 with the installation's key.

    `records`: how many records were searched. `files`: what was erased of each file of the log and of the archive, by its path.
    `repeats`: how many events are refused for ever, because they were erased. `rows`: how many rows of each table of the state database
    were deleted or masked. `removed`: files and folders that were deleted; those still needed are computed again. `left`: where it
    remains, because only an operator can change it. `elsewhere`: what lies outside of the data folder and must expire there.
    """

    id: str
    kind: str
    digest: str
    requested_us: int
    requested_by: str = ""
    status: str = RUNNING
    dry_run: bool = False
    finished_us: int = 0
    error: str = ""
    records: int = 0
    files: dict[str, FileCounts] = {}
    repeats: int = 0
    rows: dict[str, int] = {}
    removed: list[str] = []
    left: list[str] = []
    elsewhere: list[str] = []

    @property
    def erased(self) -> int:
        """How many records were erased."""
        return sum(counts.erased for counts in self.files.values())

    @property
    def masked(self) -> int:
        """How many records were masked beside their bodies."""
        return sum(counts.masked for counts in self.files.values())
