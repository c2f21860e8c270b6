"""Settings that cannot be read: no dataset appears that depends on one, or that stands only because it is missing.

The cases are the public configurations, without evidence of topics. A setting decides a dataset that another value of it makes disappear.
"""

import pytest
from tests.sources.connect.public.test_public import CASES, configuration

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.connect.lineage.resolve import resolve

FORMS = ("${env:BUCKET}", "<bucket>", "CHANGE_ME", "{{ bucket }}", "$(BUCKET)", "%BUCKET%", "__BUCKET__", "$BUCKET")
"""What stands in a configuration for a value that only the worker, or its user, knows."""
MAY_BE_LEFT_OUT = frozenset(
    (
        "camel.sink.endpoint.fileName",
        "table.exclude.list",
        "topics",
        "topic.prefix",
        "vitess.keyspace",
    )
)
"""Settings without which what is left is there: a file's folder, tables beside the excluded ones, tables listed with their keyspace."""


def named(config: dict[str, str]) -> set[DatasetName]:
    found = resolve(config)
    return {name for outside in found.datasets for name in (outside.dataset, *outside.symlinks)}


def faults(config: dict[str, str], key: str, form: str) -> set[DatasetName]:
    """The datasets that are named with a setting that cannot be read, though it decides them, or only without it."""
    whole, without = named(config), named({**config, key: form})
    depending = whole - named({**config, key: f"{config[key]}zz"})
    return (without - whole) | (without & depending)


@pytest.mark.parametrize("part", range(8))
def test_no_dataset_depends_on_a_setting_that_cannot_be_read(part):
    tried = 0
    for at, case in enumerate(CASES[part::8]):
        config = configuration(case)
        for number, key in enumerate(sorted(set(config) - {"connector.class", *MAY_BE_LEFT_OUT})):
            form = FORMS[(at + number) % len(FORMS)]
            assert (case["class"], key, form, faults(config, key, form)) == (case["class"], key, form, set())
            tried += 1
    assert tried >= 500
