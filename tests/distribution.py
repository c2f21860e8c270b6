"""How a run is divided among worker processes: `-n logical --dist loadgroup`.

The tests of a file stay together, in one worker and in their order: they share the file's fixtures. So do
files that request the same server or Spark session, which is started once per run. The longest come first.
"""

from collections import Counter
from collections.abc import Sequence

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

GROUPS = {"kafka": "servers", "connect": "servers", "postgres": "servers", "flink": "servers"}
GROUPS |= {"moto": "kinesis", "kinesis_local": "kinesis"}
GROUPS |= {"served": "served", "spark": "spark", "registry": "registry", "openid": "openid", "built": "page"}
GROUPS |= {"s3_store": "stores", "gcs_store": "stores", "azure_store": "stores"}
"""Fixtures that a run creates once, and the group of the files that request them; of several groups the first."""
ORDER = tuple(dict.fromkeys(GROUPS.values()))
WORKER_BYTES = 4 << 30
"""What a worker may take with the servers and the Spark session that it starts."""


def worker_count(processors: int, free_bytes: int) -> int:
    """One worker more than processors, as tests wait for servers; no more than fit into memory, if processors do."""
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


def longest_first(items: list[pytest.Item]) -> None:
    """Puts groups before files, and files marked `long` before others, those with many tests before those with few."""
    sizes = Counter(item.path for item in items)

    def sort_key(item: pytest.Item) -> tuple[int, bool, int, str]:
        group = item.get_closest_marker("xdist_group")
        rank = ORDER.index(group.args[0]) if group else len(ORDER)
        return rank, item.get_closest_marker("long") is None, -sizes[item.path], str(item.path)

    items.sort(key=sort_key)
