"""The page on connectors lists the catalogue as it is."""

import re
from pathlib import Path

from lineage_bridge.sources.common.connect.catalogue.catalogue import catalogue
from lineage_bridge.sources.common.connect.catalogue.family import ConnectorClass
from lineage_bridge.sources.common.connect.catalogue.filters import FILTERS

PAGE = Path(__file__).resolve().parents[4] / "docs" / "connectors.md"


def readable(template: str) -> str:
    """A template without its filters, and with the first of its alternatives alone."""
    first, _, _ = template.partition("||")
    return re.sub(r"\{=?([^{}|!]*)[^{}]*\}", lambda hole: "{" + hole[1] + "}" if hole[0][1] != "=" else hole[1], first)


def row(connector: ConnectorClass) -> str:
    """An entry of the catalogue as a line of the table."""
    template = readable(connector.namespace or connector.jdbc or connector.path)
    thing = f" `{readable(connector.name)}`" if connector.namespace else " by URL" if connector.jdbc else ""
    dataset = f"`{template}`{thing}{'' if connector.standard else ' †'}" if template else "-"
    classes, managed = (" ".join(f"`{name}`" for name in names) or "-" for names in (connector.classes, connector.managed))
    return f"| {connector.title} | {connector.direction} | {classes} | {managed} | {dataset} |"


def test_the_page_documents_every_key_and_filter():
    form, templates = PAGE.read_text("utf-8").split("| key | meaning |")[1].split("In a template,")
    keys = {key for line in form.splitlines() for key in re.findall(r"`(\w+)`", line.split("|")[1] if line.startswith("|") else "")}
    assert keys - {"base"} <= set(ConnectorClass.__struct_fields__)
    named = set(re.findall(r"`(\w+)[:`]", templates.split("`[...]`")[0])) - {"text", "one"}
    assert named <= set(FILTERS)


def test_the_page_lists_every_class():
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ") and re.search(r"\| (source|sink) \|", line)]
    assert rows == [row(connector) for connector in sorted(catalogue().connectors, key=lambda row: (row.title.lower(), row.direction))]
