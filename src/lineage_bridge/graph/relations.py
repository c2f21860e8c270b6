"""The relations of the graph: what is known from events, as rows that merge.

An event is folded into rows of these relations, and rows with the same key are merged (`graph/merge_rules.py`); everything else in the
store is derived from them. The terms:

- An **assertion** is the fact that somebody asserted a facet set of a node. Who asserted it (`asserted_by`) is a run, or a design-time
  statement: all that one producer declares of a job or dataset outside of runs, under one id.
- A **facet set** is the set of facets that one event gave one node, stored once under the hash of its texts. Producers repeat themselves,
  so millions of events make few facet sets.
- A **lineage set** is what one lineage facet states: a sorted set of statements "this column comes from that one", stored once under its
  hash. Two facet texts that state the same are the same lineage set. Derived; see `graph/statements/lineage_sets.py`.
- A **run shape** is what one run did, regardless of when: the datasets it read and wrote, and the lineage sets it stated. Most runs of a
  job have the same shape, so flows are computed once per shape. Derived; see `graph/flows/shapes.py`.

Rows are flat tuples: the columns of the key, then the others, as declared. Times are int64 microseconds UTC, days are UTC days since the
epoch. Ids of events, runs, facet sets and facets are 16 bytes; node ids are signed 64-bit.
"""

from enum import IntEnum

from lineage_bridge.graph.foreign_assertion import FOREIGN_ASSERTION
from lineage_bridge.graph.merge_rules import Column, MergeRule, Relation, Type, first_and_last, greatest, key, least, relation, same

NEVER_US = -(2**63)
"""The time, in an order, that stands for no assertion yet."""
NO_EVENT = b""
"""The event id that goes with NEVER_US in an order."""


class Side(IntEnum):
    """What a facet is about: an input or output, the node itself, the run, one access to an input or output, or what a catalog states."""

    INPUT = 0
    OUTPUT = 1
    SELF = 2
    RUN = 3
    INPUT_ACCESS = 4
    OUTPUT_ACCESS = 5
    CATALOG = 6


class Origin(IntEnum):
    """Whether a flow was observed in a run, declared at design time, or inferred by a rule."""

    OBSERVED = 1
    DECLARED = 2
    INFERRED = 3


class Evidence(IntEnum):
    """The kinds of evidence for a flow, the strongest first."""

    EXPLICIT = 1
    COLUMN = 2
    CO_OCCURRENCE = 3
    STITCHED = 4
    RENAMED = 5

    @property
    def text(self) -> str:
        """The word by which answers name the kind of evidence."""
        return self.name.lower().replace("_", "-")


NODE = relation(
    "node",
    key("id", Type.INT),
    key("kind", Type.INT),
    key("namespace", Type.TEXT),
    key("name", Type.TEXT),
    Column("first", Type.INT, MergeRule.MIN),
)
"""Datasets and jobs that an event or a facet names, and when first. The store refuses a second name with the same id."""

EVENT = relation(
    "event",
    key("time", Type.INT),
    key("event", Type.BYTES),
    Column("effective", Type.INT, MergeRule.MIN),
    same("type", Type.TEXT),
    same("asserted_by", Type.BYTES),
    same("job", Type.INT),
    same("dataset", Type.INT),
    same("repairs", Type.TEXT),
)
"""Accepted events. The time is a function of the event's bytes and comes first in the key, so rows are stored in the order of time.
`effective` is the time that counts: the event's own, or its arrival if the producer's clock is far ahead. `type` is empty when absent,
`job` and `dataset` are 0 if the event has none."""

EVENT_RECORD = relation(
    "event_record",
    key("time", Type.INT),
    key("event", Type.BYTES),
    key("source", Type.TEXT),
    key("partition", Type.INT),
    key("offset", Type.INT),
    same("arrival", Type.INT),
    same("channel", Type.TEXT),
    same("principal", Type.TEXT),
)
"""Log records that hold an accepted event: address, time and channel of arrival. An event sent twice has two rows."""

QUARANTINE = relation(
    "quarantine",
    key("event", Type.BYTES),
    key("source", Type.TEXT),
    key("partition", Type.INT),
    key("offset", Type.INT),
    same("code", Type.TEXT),
    same("path", Type.TEXT),
    same("message", Type.TEXT),
    same("sample", Type.TEXT),
    same("size", Type.INT),
    same("arrival", Type.INT),
    same("channel", Type.TEXT),
    same("principal", Type.TEXT),
)
"""Log records whose event is not used, and why. `sample` is the start of the text."""

_ABOVE = (
    *(("parent_run", Type.BYTES), ("parent_job", Type.INT), ("root_run", Type.BYTES), ("root_job", Type.INT)),
    *(("parent_raw", Type.TEXT), ("root_raw", Type.TEXT)),
)
_NOMINAL = (("nominal_start", Type.INT), ("nominal_end", Type.INT))
RUN = relation(
    "run",
    key("run", Type.BYTES),
    key("job", Type.INT),
    *greatest("parent", _ABOVE, ("parent_time", Type.INT), ("parent_sure", Type.INT), ("parent_event", Type.BYTES)),
    *greatest("nominal", _NOMINAL, ("nominal_time", Type.INT), ("nominal_event", Type.BYTES)),
    *greatest("raw", (("raw_id", Type.TEXT),), ("raw_event", Type.BYTES)),
)
"""Runs, each under its job; a run seen under two jobs has two rows. A parent run without events of its own is known from its children.
`raw_id` is the run id as it was sent, if that was not a UUID; `parent_raw` and `root_raw` are those of the parent and root. `parent_sure`
is 0 if the sender is limited to namespaces that do not contain the jobs of parent and root: the run is listed as part of the parent and
root, but nothing else is derived for these two.
"""

RUN_EVENT = relation(
    "run_event", key("run", Type.BYTES), key("job", Type.INT), key("type", Type.TEXT), key("day", Type.INT), *first_and_last()
)
"""When a run first and last sent an event of a type, by UTC day. The run's state is computed from these rows (graph/runs/state.py),
separately for each job, because producers give runs of different jobs the same id."""

RUN_IO = relation(
    "run_io",
    key("run", Type.BYTES),
    key("job", Type.INT),
    key("dataset", Type.INT),
    key("side", Type.INT),
    key("day", Type.INT),
    *first_and_last(),
)
"""When a run first and last named a dataset as its input or output, by UTC day."""

IO_SAMPLE = relation(
    "io_sample",
    key("run", Type.BYTES),
    key("job", Type.INT),
    key("dataset", Type.INT),
    key("side", Type.INT),
    key("time", Type.INT),
    *(Column(counter, Type.INT, MergeRule.MAX, optional=True) for counter in ("rows", "bytes", "files")),
    Column("event", Type.BYTES, MergeRule.MAX),
)
"""How much a run had read from or written to a dataset, as reported at one time: rows, bytes, files. Of several events at that time each
counter is the greatest reported, and `event` the greatest id."""

ASSERTION = relation(
    "assertion",
    key("asserted_by", Type.BYTES),
    key("job", Type.INT),
    key("node", Type.INT),
    key("side", Type.INT),
    key("origin", Type.INT),
    key("facet_set", Type.BYTES),
    key("day", Type.INT),
    *least("first", ("first", Type.INT), ("first_event", Type.BYTES)),
    *greatest("last", (), ("last", Type.INT), ("last_event", Type.BYTES)),
)
"""Who asserted which facet set of which node, and when first and last on a UTC day. There is a row per day, so that an answer as of a
midnight knows exactly which of several facet sets was asserted last, however often producers repeat them."""

FACET_SET = relation("facet_set", key("facet_set", Type.BYTES), key("key", Type.TEXT), same("facet", Type.BYTES))
"""The facets of a facet set, by their key."""

DECLARED_IO = relation(
    "declared_io",
    key("facet_set", Type.BYTES),
    key("side", Type.INT),
    key("dataset", Type.INT),
    key("dataset_facet_set", Type.BYTES),
)
"""The inputs and outputs of a design-time statement. They are part of the statement's facet set, so a new statement replaces them all. Each
row has the facet set that the statement gives for the input or output."""

FACET = relation("facet", key("facet", Type.BYTES), same("deleted", Type.INT), same("text", Type.TEXT))
"""Facet texts, each stored once. `deleted` is 1 if the facet withdraws an earlier one (`_deleted`)."""

ENDING = relation(
    "ending",
    key("source", Type.INT),
    key("target", Type.INT),
    key("job", Type.INT),
    *greatest("ending", (("ended", Type.INT), ("at", Type.INT)), ("ending_time", Type.INT), ("ending_event", Type.BYTES)),
)
"""What operators last stated about a flow: that the flow ended at the time `at` (`ended` is 1), or that it did not end (0). A source or
target of 0 stands for any.
"""

LIFECYCLE = relation(
    "lifecycle",
    key("asserted_by", Type.BYTES),
    key("job", Type.INT),
    key("dataset", Type.INT),
    key("change", Type.TEXT),
    key("previous", Type.INT),
    key("day", Type.INT),
    *least("first", ("first", Type.INT), ("first_event", Type.BYTES)),
    *greatest("last", (), ("last", Type.INT), ("last_event", Type.BYTES)),
)
"""Lifecycle changes of a dataset (ALTER, CREATE, DROP, OVERWRITE, RENAME or TRUNCATE), by whom, and when first and last on a UTC day.
`job` is 0 where none is named; `previous` is the dataset's earlier name, 0 where none is stated."""

JOB_DEPENDENCY = relation(
    "job_dependency",
    key("run", Type.BYTES),
    key("job", Type.INT),
    key("direction", Type.INT),
    key("other_job", Type.INT),
    key("other_run", Type.BYTES),
    key("dependency", Type.TEXT),
    key("sequence", Type.TEXT),
    key("status", Type.TEXT),
    *first_and_last(),
)
"""Control flow that a run states: a job, and possibly a run of it (else empty), that this run waits for (`direction` 0, upstream) or that
waits for this run (1, downstream). `dependency`, `sequence` and `status` are values of the jobDependencies facet, or empty."""

ERASED = relation("erased", key("run", Type.BYTES), Column("since", Type.INT, MergeRule.MIN))
"""Runs that an operator erased: whatever they assert is ignored, whether it arrived before or after the erasure."""

RELEASED = relation("released", key("event", Type.BYTES), Column("since", Type.INT, MergeRule.MIN))
"""Events that were accepted after they had been in quarantine."""

_ALIAS_KEY = (
    key("entity", Type.INT),
    key("whole", Type.INT),
    key("a_namespace", Type.TEXT),
    key("a_name", Type.TEXT),
    key("b_namespace", Type.TEXT),
    key("b_name", Type.TEXT),
    key("kind", Type.TEXT),
    key("evidence", Type.TEXT),
)
ALIAS = relation(
    "alias",
    *_ALIAS_KEY,
    *greatest("stated", (("stated_by", Type.TEXT),), ("stated_at", Type.INT), ("stated_event", Type.BYTES)),
    *greatest("veto", (("vetoed", Type.INT),), ("vetoed_at", Type.INT), ("vetoed_event", Type.BYTES)),
)
"""What operators state now of one alias and its evidence: whether they stated it, and whether they vetoed it. Ends are names, which need
not be in use yet. If `whole` is 1 the alias is between two namespaces: `n` in `a_namespace` is `b_name + n` in `b_namespace`. A veto on a
naming rule everywhere has no names; a veto on a rule within one namespace has that namespace at both ends."""

ALIAS_STATEMENT = relation(
    "alias_statement",
    *_ALIAS_KEY,
    key("at", Type.INT),
    key("event", Type.BYTES),
    same("operation", Type.TEXT),
    same("stated_by", Type.TEXT),
)
"""Every statement that operators ever made about an alias (`operation`: alias, veto or lift), from which `alias` as of an earlier time is
computed."""

RELATIONS: tuple[Relation, ...] = (
    NODE,
    EVENT,
    EVENT_RECORD,
    QUARANTINE,
    RUN,
    RUN_EVENT,
    RUN_IO,
    IO_SAMPLE,
    ASSERTION,
    FOREIGN_ASSERTION,
    FACET_SET,
    DECLARED_IO,
    FACET,
    ERASED,
    RELEASED,
    ALIAS,
    ALIAS_STATEMENT,
    LIFECYCLE,
    JOB_DEPENDENCY,
    ENDING,
)
BY_NAME = {relation.name: relation for relation in RELATIONS}
