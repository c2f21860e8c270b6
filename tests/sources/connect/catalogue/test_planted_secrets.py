"""Secrets planted in every address of every golden case reach no name and no stored configuration, whatever separators they contain."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.sources.connect.catalogue.cases import read_cases

from lineage_bridge.sources.common.connect.catalogue.catalogue import catalogue
from lineage_bridge.sources.common.connect.lineage.resolve import resolve
from lineage_bridge.sources.common.connect.secrets import mask_config

SECRET = "S3CR3T"
PASSWORDS = (SECRET, f"{SECRET}%2F", f"a/{SECRET}", f"{SECRET}?x", f"{SECRET};", f"{SECRET},b", f"a@{SECRET}")
OPTIONS = (
    f";PWD={SECRET}",
    f"?password={SECRET}",
    f"?user=u&password={SECRET}",
    f";UID=u;OAuthPvtKey={SECRET}",
    f":user=u;password={SECRET};",
)
PARAMETERS = (f"code={SECRET}", f"sig={SECRET}&apikey={SECRET}")
CASES = read_cases()


def planted(value: str) -> Iterator[str]:
    """The value with a secret in each place of an address that may have one."""
    if value.startswith("jdbc:"):
        yield from (value + option for option in OPTIONS)
        if "//" in value:
            yield from (value.replace("//", f"//u:{password}@", 1) for password in PASSWORDS)
        if "oracle:thin:@" in value:
            yield from (value.replace("thin:@", f"thin:u/{password}@") for password in PASSWORDS)
    elif "://" in value:
        yield from (value.replace("://", f"://u:{password}@", 1) for password in PASSWORDS)
        yield from (f"{value}{'&' if '?' in value else '?'}{parameters}" for parameters in PARAMETERS)


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}-{at}" for at, (name, _) in enumerate(CASES)])
def test_a_planted_secret_is_found_nowhere(name: str, case: dict[str, Any]) -> None:
    config = dict(line.split("=", 1) for line in case["config"].strip().splitlines())
    secrets = frozenset(catalogue().find({"connector.class": name, **config}).secrets)
    variants = [{**config, key: text} for key, value in config.items() for text in planted(value)]
    for variant in [*variants, {**config, **dict.fromkeys(secrets, SECRET)}]:
        found = resolve({"connector.class": name, **variant})
        datasets = [text for dataset in found.datasets for named in (dataset.dataset, *dataset.symlinks) for text in named]
        topics = [use.name for use in (*found.topics_in, *found.topics_out)]
        masked = mask_config(variant, secrets).values()
        assert [text for text in (*datasets, *topics, *masked, *found.unknown) if SECRET in text] == []
