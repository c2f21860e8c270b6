"""How a run is divided among worker processes: `-n logical --dist loadgroup`.

The tests of a file stay together, in one worker and in their order: they share the file's fixtures. So do
files that request the same server or Spark session, which is started once per run. The longest come first.
Servers end with the last test of their group, as they take processor time and memory while they idle.
"""

from collections import Counter
from collections.abc import Sequence

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

GROUPS = {"connect": "connect", "postgres": "connect", "flink": "connect"}
GROUPS |= {"kafka": "kafka", "built": "page", "browser": "page", "spark": "spark"}
GROUPS |= {"moto": "kinesis", "kinesis_local": "kinesis"}
GROUPS |= {"served": "served", "openid": "openid", "registry": "registry"}
GROUPS |= {"s3_store": "stores", "gcs_store": "stores", "azure_store": "stores"}
"""Fixtures that a run creates once, and the group of the files that request them; of several groups the first.

What needs Connect, PostgreSQL or Flink has a broker of its own: with all that needs Kafka in one group, the run would wait for that group.
The groups that take longest come first, as far as that order allows.
"""
ORDER = tuple(dict.fromkeys(GROUPS.values()))
SECONDS = {
    "tests/crash/test_torture.py": 350,
    "tests/crash/test_kill_rounds.py": 300,
    "tests/cli/processes/test_replay.py": 160,
    "tests/cli/processes/test_serve.py": 140,
    "tests/crash/test_postgresql.py": 120,
    "tests/crash/test_lost_graph.py": 120,
    "tests/catalogs/test_targets.py": 100,
    "tests/sources/confluent/test_failures.py": 90,
    "tests/catalogs/test_estate.py": 80,
    "tests/api/test_schemathesis.py": 80,
    "tests/api/access/test_teams.py": 70,
    "tests/openlineage/test_redaction.py": 70,
    "tests/catalogs/test_storms.py": 60,
    "tests/cli/confluent/test_pushes.py": 50,
    "tests/cli/confluent/test_extract.py": 50,
    "tests/store/test_corpus.py": 40,
    "tests/cli/confluent/test_walkthrough.py": 40,
    "tests/cli/processes/test_access.py": 40,
    "tests/api/attacks/test_names.py": 30,
    "tests/crash/test_file_inputs.py": 30,
    "tests/graph/flows/test_corpus.py": 30,
    "tests/store/server/test_postgresql_schema.py": 30,
    "tests/store/history/test_past.py": 30,
    "tests/catalogs/test_continuous.py": 20,
    "tests/cli/test_send.py": 20,
    "tests/cli/confluent/test_watch.py": 20,
    "tests/store/identity/test_groups.py": 20,
    "tests/api/attacks/test_floods.py": 20,
    "tests/api/attacks/test_outbound_addresses.py": 20,
    "tests/sources/confluent/test_organization.py": 20,
    "tests/store/write/test_apply.py": 20,
    "tests/store/server/test_postgresql_owners.py": 20,
    "tests/store/server/test_postgresql_replica.py": 20,
    "tests/crash/test_power.py": 15,
    "tests/test_supervisor.py": 15,
    "tests/pipeline/test_session.py": 15,
}
"""About how long the files without a group take that take longest for the number of their tests. Nothing but the order depends on it."""
WORKER_BYTES = 4 << 30
"""What a worker may take with the servers and the Spark session that it starts."""


def worker_count(processors: int, free_bytes: int) -> int:
    """One worker more than processors, as tests wait for servers; no more than fit into memory, if processors do. With two more, a part of
    the tests took as long and a tenth more processor time.
    """
    return max(1, min(processors + 1, max(processors, free_bytes // WORKER_BYTES)))


class ByGroup(LoadScopeScheduling):  # type: ignore[misc]  # its base ships no types
    """Gives the tests of a group to one worker; a file without a group is a group of its own."""

    def _split_scope(self, nodeid: str) -> str:
        _, at, group = nodeid.rpartition("@")
        return group if at and group in ORDER else nodeid.partition("::")[0]


def scheduler(config: pytest.Config, log: Producer) -> ByGroup:
    """Groups in the order in which their first tests were collected."""
    config.option.loadscopereorder = False
    return ByGroup(config, log)


def shared_by(item: pytest.Item) -> set[str]:
    """The names of the session's fixtures that a test requests."""
    fixtures = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
    return {name for name, made in fixtures.items() if made and made[-1].scope == "session"}


def assign_groups(items: Sequence[pytest.Item]) -> None:
    """Mark the tests of files that request such a fixture with its group."""
    groups: dict[object, set[str]] = {}
    for item in items:
        groups.setdefault(item.path, set()).update(GROUPS[name] for name in shared_by(item) & GROUPS.keys())
    for item in items:
        if found := groups[item.path]:
            item.add_marker(pytest.mark.xdist_group(min(found, key=ORDER.index)))


def group_of(item: pytest.Item) -> str:
    """The group that a test was given, or an empty string."""
    mark = item.get_closest_marker("xdist_group")
    return str(mark.args[0]) if mark else ""


def end_servers(item: pytest.Item, following: pytest.Item) -> None:
    """End what the tests of a group have shared, if the test was the group's last in this process; a later test would start it again.

    Spark's session stays: its Java idles at no cost, and ends with the process only.
    """
    if (group := group_of(item)) and group_of(following) != group:
        for name in GROUPS.keys() - {"spark"}:
            for fixture in item.session._fixturemanager._arg2fixturedefs.get(name, ()):
                fixture.finish(item._request)  # type: ignore[attr-defined]  # of each test that requests a fixture


def longest_first(items: list[pytest.Item]) -> None:
    """Puts groups before files, and files by how long they take, those of which that is unknown by the number of their tests."""
    sizes = Counter(item.path for item in items)

    def sort_key(item: pytest.Item) -> tuple[int, int, int, str]:
        group = group_of(item)
        rank = ORDER.index(group) if group else len(ORDER)
        return rank, -SECONDS.get(item.nodeid.partition("::")[0], 0), -sizes[item.path], str(item.path)

    items.sort(key=sort_key)
