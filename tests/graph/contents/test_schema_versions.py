"""Schema versions: which there were, and how two differ."""

from itertools import pairwise
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.graph.contents.schema_versions import SETTLING_US, Mention, current, diff, history, paths, schema_version
from lineage_bridge.openlineage.facets import SchemaField

MINUTE = 60_000_000


def mentions_of(*mentions: tuple[int, str] | tuple[int, str, int]) -> list[Mention]:
    """(minute, version, job = 1)."""
    return [Mention(m[0] * MINUTE, b"e%d" % number, m[2] if len(m) > 2 else 1, m[1]) for number, m in enumerate(mentions)]


def minutes(mentions: list[Mention]) -> list[tuple[str, int, int]]:
    return [(period.version, period.first[0] // MINUTE, period.last[0] // MINUTE) for period in history(mentions)]


def test_each_change_is_a_version() -> None:
    assert minutes(mentions_of((0, "a"), (5, "a"), (60, "b"), (90, "b"))) == [("a", 0, 5), ("b", 60, 90)]


def test_a_replay_of_the_past_is_no_history() -> None:
    start = [(0, "a"), (60, "b")]
    restart = [(120, "b"), (120, "a"), (121, "b"), (122, "a"), (122, "b")]
    assert minutes(mentions_of(*start, *restart)) == [("a", 0, 0), ("b", 60, 122)]


def test_however_often_it_is_replayed() -> None:
    """Restarts every five minutes for two hours: what holds between them is the version they end with."""
    restarts = [mention for n in range(24) for mention in ((120 + 5 * n, "x"), (120 + 5 * n, "a"), (120 + 5 * n, "b"))]
    assert minutes(mentions_of((0, "a"), (60, "b"), *restarts)) == [("a", 0, 0), ("b", 60, 235), ("x", 120, 235)]
    assert [(s.version, s.brief) for s in history(mentions_of((0, "a"), (60, "b"), *restarts))] == [("a", False), ("b", False), ("x", True)]


def test_a_return_that_lasts_is_history() -> None:
    assert minutes(mentions_of((0, "a"), (60, "b"), (120, "a"), (131, "b"))) == [
        ("a", 0, 0),
        ("b", 60, 60),
        ("a", 120, 120),
        ("b", 131, 131),
    ]
    assert minutes(mentions_of((0, "a"), (60, "b"), (71, "a"))) == [("a", 0, 0), ("b", 60, 60), ("a", 71, 71)]


def test_what_was_there_for_a_moment_does_not_end_what_was_there_before() -> None:
    mentions = mentions_of((0, "a"), (60, "b"), (62, "a"))
    assert minutes(mentions) == [("a", 0, 62), ("b", 60, 60)]
    now = current(history(mentions))
    assert now is not None
    assert now.version == "a"


def test_versions_that_are_new_are_all_there() -> None:
    mentions = mentions_of((0, "a"), (1, "b"), (2, "c"))
    assert minutes(mentions) == [("a", 0, 0), ("b", 1, 1), ("c", 2, 2)]
    assert [period.brief for period in history(mentions)] == [True, True, False]


def test_two_jobs_that_disagree_do_not_flap() -> None:
    mentions = mentions_of(*((n, "a", 1) for n in range(0, 100, 20)), *((n, "b", 2) for n in range(10, 100, 20)))
    assert minutes(mentions) == [("a", 0, 80), ("b", 10, 90)]
    assert {s.version: s.jobs for s in history(mentions)} == {"a": frozenset({1}), "b": frozenset({2})}


def test_two_jobs_that_agree_share_one_period() -> None:
    (period,) = history(mentions_of((0, "a", 1), (50, "a", 2), (20, "a", 1), (90, "a", 2)))
    assert (period.first[0], period.last[0], period.jobs) == (0, 90 * MINUTE, frozenset({1, 2}))


_mentions = st.lists(
    st.builds(
        lambda minute, version, job, event: Mention(minute * MINUTE, event, job, version),
        st.integers(0, 60),
        st.sampled_from("abc"),
        st.integers(1, 2),
        st.binary(min_size=1, max_size=1),
    ),
    max_size=12,
)


@given(_mentions, st.randoms(use_true_random=False))
def test_the_order_and_the_number_of_mentions_do_not_matter(mentions: list[Mention], random: Random) -> None:
    shuffled = [*mentions, *mentions]
    random.shuffle(shuffled)
    assert history(shuffled) == history(mentions)


@given(_mentions)
def test_every_version_is_there_and_the_last_mention_is_the_present(mentions: list[Mention]) -> None:
    periods = history(mentions)
    assert {period.version for period in periods} == {mention.version for mention in mentions}
    newest = current(periods)
    assert (newest.last if newest else None) == max((mention[:2] for mention in mentions), default=None)
    for job in {mention.job for mention in mentions}:
        own = [period for period in history([mention for mention in mentions if mention.job == job]) if not period.brief]
        assert all(a.version != b.version for a, b in pairwise(own))
    assert SETTLING_US == 10 * MINUTE


_types = st.sampled_from([None, "INT", "TEXT"])
_fields: st.SearchStrategy[Any] = st.recursive(
    st.builds(lambda name, type_: SchemaField(name=name, type=type_), st.sampled_from(["a", "b", "a.b"]), _types),
    lambda inner: st.builds(
        lambda name, fields: SchemaField(name=name, type="STRUCT", fields=tuple(fields)),
        st.sampled_from(["s", "t"]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=6,
)
_schemas = st.lists(_fields, max_size=4)


@given(_schemas, _schemas)
def test_a_difference_leads_from_one_to_the_other(before: list[SchemaField], after: list[SchemaField]) -> None:
    old, new = paths(before), paths(after)
    change = diff(old, new)
    applied = {path: type_ for path, type_ in old.items() if path not in dict(change.removed)}
    assert all(applied[step.path] == step.before for step in change.changed)
    applied |= dict(change.added) | {step.path: step.after for step in change.changed}
    assert applied == new
    assert diff(new, new) == ((), (), ())


def test_nested_fields_by_their_paths() -> None:
    def struct(*fields: SchemaField) -> list[SchemaField]:
        return [SchemaField(name="s", type="STRUCT", fields=fields)]

    old = struct(SchemaField(name="x", type="INT"), SchemaField(name="y"))
    new = struct(SchemaField(name="x", type="LONG"), SchemaField(name="z", type="TEXT"))
    change = diff(paths(old), paths(new))
    assert change.added == ((("s", "z"), "TEXT"),)
    assert change.removed == ((("s", "y"), None),)
    assert change.changed == ((("s", "x"), "INT", "LONG"),)


def test_a_version_is_names_and_types_and_nothing_else() -> None:
    plain = [SchemaField(name="a", type="INT")]
    assert schema_version(plain) == schema_version([SchemaField(name="a", type="INT", description="text", ordinal_position=3)])
    assert schema_version(plain) != schema_version([SchemaField(name="a", type="LONG")])
    assert schema_version(plain) != schema_version([SchemaField(name="a", type="INT", fields=(SchemaField(name="b"),))])
