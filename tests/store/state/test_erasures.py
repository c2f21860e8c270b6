"""Erasing a person in the state database: what is left can be read as before, and nobody may see more than before."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from lineage_bridge.eventlog.erasing.identifier import PersonIdentifier
from lineage_bridge.eventlog.erasing.masking import masked_texts
from lineage_bridge.graph.identity.limits import matches
from lineage_bridge.model.access import AccessScope, ApiKey
from lineage_bridge.model.erasing.erasure import DONE, PERSON, ErasureReport
from lineage_bridge.model.sources import SourceState
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.erasures import ErasureRepository, erase_rows
from lineage_bridge.store.state.keys import ApiKeyRepository
from lineage_bridge.store.state.sources import SourceRepository

KEY = ApiKey(
    "1", "reader", b"digest", frozenset([AccessScope.READ]), ("ada@example.com",), "for ada@example.com", 1, "root", None, None, None
)


def erase(state: StateDatabase, name: str, *, dry_run: bool = False) -> dict[str, int]:
    identifier = PersonIdentifier(name)
    return erase_rows(state, identifier.is_in, partial(masked_texts, identifier=identifier), dry_run=dry_run)


def test_a_key_that_was_limited_to_a_person_sees_nothing_else_afterwards(tmp_path: Path) -> None:
    state = StateDatabase(tmp_path / "state.db")
    ApiKeyRepository(state).add(KEY)
    assert erase(state, "ada@example.com", dry_run=True) == {"api_key": 1}
    assert ApiKeyRepository(state).records() == [KEY]
    assert erase(state, "ada@example.com") == {"api_key": 1}
    (key,) = ApiKeyRepository(state).records()
    assert key == replace(KEY, namespaces=("#" * 15,), note="for " + "#" * 15)
    assert not any(matches(namespace, key.namespaces) for namespace in ("kafka://orders", "x" * 15, ""))


def test_names_and_numbers_that_belong_to_the_format_stay(tmp_path: Path) -> None:
    state = StateDatabase(tmp_path / "state.db")
    reports, sources = ErasureRepository(state), SourceRepository(state)
    report = ErasureReport("1", PERSON, "d1935t4711", 1_764_378_174_711, "ada", DONE, removed=["logs/ada.log"])
    reports.save(report)
    kept = SourceState(polls=1, succeeded_us=1_764_378_174_711, error="ada failed", hint="see kind")
    sources.save_poll("s", kept, None, [])
    assert erase(state, "kind") == {"source_state": 1}
    assert erase(state, "4711") == {}
    assert erase(state, "error") == {}
    assert reports.records() == [report]
    assert erase(state, "ada") == {"erasure": 1, "source_state": 1}
    (masked,) = reports.records()
    assert (masked.requested_by, masked.removed, masked.digest) == ("###", ["logs/###.log"], report.digest)
    assert sources.states()["s"].error == "### failed"
