"""A migration that has landed is never edited: stores of users have run it."""

import hashlib

import pytest

from lineage_bridge.store.migration import Schema
from lineage_bridge.store.schema.sqlite import GRAPH
from lineage_bridge.store.state.database import STATE


@pytest.mark.parametrize("schema", [GRAPH, STATE], ids=lambda schema: schema.name)
def test_no_landed_migration_was_edited(schema: Schema) -> None:
    lines = (schema.migrations / "landed.sha256").read_text(encoding="ascii").splitlines()
    landed = {name: digest for digest, name in (line.split("  ") for line in lines)}
    scripts = sorted((schema.migrations / "versions").glob("[0-9]*.py"))
    assert {script.name: hashlib.sha256(script.read_bytes()).hexdigest() for script in scripts} == landed
    assert scripts[-1].name.startswith(f"{schema.version}_")
