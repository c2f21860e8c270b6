"""The request to erase something from the data folder, and the proofs of erasures."""

from typing import Literal

from msgspec import UNSET, Struct

from lineage_bridge.api.schemas.names import Text


class ErasureBody(Struct, frozen=True, forbid_unknown_fields=True):
    """What to erase. `name`: a person's identifier, a run's UUID, or the name of a dataset; `namespace`: that of a dataset, or a whole one.

    With `dry_run`, it is only counted.
    """

    kind: Literal["person", "run", "dataset", "namespace"]
    name: str = ""
    namespace: str = ""
    dry_run: bool = False


class ErasedFile(Struct, frozen=True):
    """How many records of a file of the log or the archive were erased, and in how many only metadata, such as the sender, was masked."""

    path: str
    erased: int
    masked: int


class ErasureItem(Struct, frozen=True, omit_defaults=True):
    """The proof of an erasure. It contains a keyed hash of what was erased (`digest`), not what it was.

    `status`: `waiting` until the server has stopped its other programs, `running`, `done`, `incomplete` if something is `left` that only an
    operator can change, `failed` with an `error`. `records` were searched. `repeats`: how many events are never written again. `rows`: rows
    of tables in state.db that were deleted or masked. `removed`: files that were deleted; those still needed are computed again.
    `elsewhere`: what lies outside of the data folder and must expire there.
    """

    id: str
    kind: Literal["person", "run", "dataset", "namespace"]
    status: Literal["waiting", "running", "done", "incomplete", "failed"]
    dry_run: bool
    digest: str
    requested_at: str
    records: int
    erased: int
    masked: int
    repeats: int
    files: list[ErasedFile]
    rows: dict[str, int]
    removed: list[str]
    left: list[str]
    elsewhere: list[str]
    requested_by: Text = UNSET
    finished_at: Text = UNSET
    error: Text = UNSET


class ErasuresAnswer(Struct, frozen=True):
    """Erasures, the newest first."""

    erasures: list[ErasureItem]
