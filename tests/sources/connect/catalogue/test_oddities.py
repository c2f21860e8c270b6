"""Oddities that configurations have, in every setting of every class: no name is made of one, and what does not matter changes nothing."""

import pytest
from tests.sources.connect.catalogue.cases import read_cases

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.connect.catalogue.catalogue import lookup
from lineage_bridge.sources.common.connect.lineage.connection import DATA
from lineage_bridge.sources.common.connect.lineage.resolve import resolve


def distinct() -> list[dict[str, str]]:
    """One configuration of each family for each of its golden cases."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for name, case in read_cases():
        family = lookup(name)
        config = {"connector.class": name, **dict(line.split("=", 1) for line in case["config"].strip().splitlines())}
        found.setdefault((family.title if family else name, case["config"]), config)
    return list(found.values())


CONFIGURATIONS = distinct()
PARTS = 6
OWN_SIGNS = ("redis://", "http://", "https://")
"""The beginnings of namespaces whose names may have any sign."""


def names_of(config: dict[str, str]) -> tuple[set[DatasetName], set[str]]:
    found = resolve(config)
    topics = {use.name for use in (*found.topics_in, *found.topics_out) if use.role == DATA and not use.is_pattern}
    return {name for outside in found.datasets for name in (outside.dataset, *outside.symlinks)}, topics


@pytest.mark.parametrize("part", range(PARTS))
def test_spaces_and_empty_elements_change_nothing(part: int) -> None:
    queries = ("query", "salesforce.bulk.api.queries")
    for config in CONFIGURATIONS[part::PARTS]:
        datasets, topics = names_of(config)
        for key, value in config.items():
            forms = [f" {value} "] + ([value.replace(",", ", "), f"{value},"] if "," in value and key not in queries else [])
            for form in forms:
                assert (key, form, names_of({**config, key: form})) == (key, form, (datasets, topics))


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("form", ['" + value + "', "' + value + '", "[[value]]", "TODO", "xxxx"])
def test_no_dataset_has_what_a_program_or_its_user_still_fills_in(form: str, part: int) -> None:
    for config in CONFIGURATIONS[part::PARTS]:
        datasets, _ = names_of(config)
        lists = {key for key in config if key.endswith("topics") or ".topic" in key or key.startswith("topic")}
        for key in config.keys() - lists:
            made, _ = names_of({**config, key: form})
            phantoms = [name for name in made - datasets if form in name[1].split("/") and not name[0].startswith(OWN_SIGNS)]
            assert (config["connector.class"], key, phantoms) == (config["connector.class"], key, [])


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("form", ["<a topic>", "{{ topic }}", "${TOPIC}", "change_me", "%TOPIC%"])
def test_no_topic_is_what_its_user_still_fills_in(form: str, part: int) -> None:
    for config in CONFIGURATIONS[part::PARTS]:
        _, topics = names_of(config)
        for key in config.keys() - {"topics.regex"}:
            _, made = names_of({**config, key: form})
            assert (config["connector.class"], key, {topic for topic in made - topics if form in topic}) == (
                config["connector.class"],
                key,
                set(),
            )
