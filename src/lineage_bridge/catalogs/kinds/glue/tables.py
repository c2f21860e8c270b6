"""Determines which datasets are tables of a catalog, and which parts of the graph a table's parameters contain. Pure."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from lineage_bridge.catalogs.kinds.glue.settings import GlueSettings
from lineage_bridge.catalogs.target import Expressed, InexpressibleError, Json, ObjectKey
from lineage_bridge.openlineage.event_builder import digest_of
from lineage_bridge.openlineage.facets.publication import PUBLICATION
from lineage_bridge.sources.common.aws.glue_parameters import DESCRIBED, PREFIX

UPSTREAM, DOWNSTREAM, THROUGH = (f"{PREFIX}{name}" for name in ("upstream", "downstream", "publication"))
"""Names of table parameters: the jobs that write the table, the jobs that read it, and the installations that published it."""
LONGEST_VALUE: Final = 512_000
"""The maximum length of a parameter in characters."""
LONGEST_DESCRIPTION, LONGEST_COMMENT, _LONGEST_NAME = 2048, 255, 255
_ARN: Final = re.compile(r"arn:aws[a-z-]*:glue:([a-z0-9-]+):(\d{12})")
_ARN_NAME: Final = re.compile(r"table/([^/]+)/([^/]+)")
_SPACES: Final = re.compile(r"[\s\x00-\x1f\x7f\ufffe\uffff]+")
_HELD: Final = frozenset(("sql", PUBLICATION))
_HELD_OF_TABLES: Final = frozenset(("columnLineage", "documentation", "schema", "symlinks", PUBLICATION))


class GlueTable(NamedTuple):
    """A table of the catalog; both names are in lower case, as Glue stores them."""

    database: str
    name: str


def table_of(dataset: Json, settings: GlueSettings) -> GlueTable | None:
    """The table of a dataset in this catalog, from the dataset's name or another one that its producers state."""
    symlinks = dataset.get("facets", {}).get("symlinks", {})
    others = symlinks.get("identifiers") if isinstance(symlinks, dict) else None
    names = [dataset, *(other for other in (others if isinstance(others, list) else ()) if isinstance(other, dict))]
    found = (_named(str(name.get("namespace", "")), str(name.get("name", "")), settings) for name in names)
    return next((table for table in found if table and all(0 < len(part) <= _LONGEST_NAME for part in table)), None)


def _named(namespace: str, name: str, settings: GlueSettings) -> GlueTable | None:
    region, catalog = settings.region, settings.catalog_id
    if namespace in settings.databases:
        return GlueTable(settings.databases[namespace].lower(), name.lower())
    if match := _ARN.fullmatch(namespace):
        parts = _ARN_NAME.fullmatch(name)
        return GlueTable(parts[1].lower(), parts[2].lower()) if parts and match.groups() == (region, catalog) else None
    if namespace == f"aws://{region}" and (parts := _ARN_NAME.fullmatch(name)):  # datasets whose account is unknown
        return GlueTable(parts[1].lower(), parts[2].lower())
    if namespace.startswith(f"aws://{region}/"):
        return GlueTable(namespace.removeprefix(f"aws://{region}/").lower(), name.lower())
    if namespace.startswith(f"awsathena://athena.{region}."):
        found = name.lower().split(".")
        return GlueTable(found[1], found[2]) if len(found) == 3 and found[0] == "awsdatacatalog" else None
    return None


def key_of_table(table: GlueTable, settings: GlueSettings) -> ObjectKey:
    """The key of a table: its name by OpenLineage's naming specification."""
    return ObjectKey("dataset", f"arn:aws:glue:{settings.region}:{settings.catalog_id}", f"table/{table.database}/{table.name}")


def table_of_key(key: ObjectKey) -> GlueTable:
    """The table that has this key."""
    _, database, name = key.name.split("/", 2)
    return GlueTable(database, name)


# jobs by table


def by_table(events: Iterable[Json], settings: GlueSettings) -> Iterator[Json]:
    """An event for each table that jobs read or write, after the unchanged events of objects without a table."""
    found: dict[GlueTable, Json] = {}
    for event in events:
        sides = {side: [(table_of(dataset, settings), dataset) for dataset in event.get(side, ())] for side in ("inputs", "outputs")}
        if "job" not in event or not any(table for datasets in sides.values() for table, _ in datasets):
            yield event
            continue
        for side, parameter in (("outputs", UPSTREAM), ("inputs", DOWNSTREAM)):
            for table, dataset in sides[side]:
                if table:
                    made = found.setdefault(table, {"dataset": dataset, UPSTREAM: [], DOWNSTREAM: []})
                    made[parameter].append({**event, "table": dataset})
    for table, made in sorted(found.items()):
        key = key_of_table(table, settings)
        yield {**made, "dataset": {**made["dataset"], "namespace": key.namespace, "name": key.name}}


def express_table(event: Json, settings: GlueSettings) -> Expressed:
    """The parameters and descriptions of a table. Raises InexpressibleError."""
    if UPSTREAM not in event:
        raise InexpressibleError(
            "jobs that read and write no table of the catalog" if "job" in event else "datasets that no job reads or writes"
        )
    lost, dataset = Counter[str](), event["dataset"]
    writing, reading = (
        sorted(event[side], key=lambda made: (made["job"]["namespace"], made["job"]["name"])) for side in (UPSTREAM, DOWNSTREAM)
    )
    for made in writing:
        lost["facets that AWS Glue does not hold"] += len(made["job"].get("facets", {}).keys() - _HELD)
    lost["facets that AWS Glue does not hold"] += len(dataset.get("facets", {}).keys() - _HELD_OF_TABLES)
    values = {
        UPSTREAM: _within_limit([_upstream(made, lost) for made in writing], lost),
        DOWNSTREAM: _within_limit([{"job": _name(made["job"]), "outputs": _names(made, "outputs")} for made in reading], lost),
    }
    values[THROUGH] = ",".join(_through([*writing, *reading]))
    parameters = {name: value for name, value in values.items() if value}
    described = _descriptions(dataset.get("facets", {}), lost) if settings.comments else {}
    table = {"namespace": dataset["namespace"], "name": dataset["name"]}
    return Expressed({"dataset": table, "parameters": parameters, "descriptions": described}, +lost)


def digest_of_parameters(parameters: Mapping[str, Any]) -> str:
    """A digest of the lineage in a table's parameters."""
    return digest_of({name: value for name, value in parameters.items() if name.startswith(PREFIX) and name != DESCRIBED})


def _upstream(event: Json, lost: Counter[str]) -> Json:
    facets = event["table"].get("facets", {})
    lineage = facets.get("columnLineage", {})
    columns = {}
    for column, stated in sorted((lineage.get("fields") or {}).items()):
        sources = [source for source in stated.get("inputFields", ()) if {"namespace", "name", "field"} <= source.keys()]
        lost["transformations of columns"] += sum(len(source.get("transformations") or ()) for source in sources)
        columns[column] = [{**_name(source), "field": source["field"]} for source in sources]
    lost["columns that a dataset depends on as a whole"] += len(lineage.get("dataset") or ())
    query = event["job"].get("facets", {}).get("sql", {}).get("query")
    found = {"job": _name(event["job"]), "inputs": _names(event, "inputs"), "columns": columns, "sql": query}
    return {name: value for name, value in found.items() if value or name in ("job", "inputs")}


def _name(subject: Json) -> Json:
    return {"namespace": subject["namespace"], "name": subject["name"]}


def _names(event: Json, side: str) -> list[Json]:
    return sorted((_name(dataset) for dataset in event.get(side, ())), key=lambda name: (name["namespace"], name["name"]))


def _through(events: Iterable[Json]) -> list[str]:
    """The ids of all installations that published these jobs; the last one is the present publisher."""
    lists = [event["job"].get("facets", {}).get(PUBLICATION, {}).get("installations") or [""] for event in events]
    before = sorted({installation for names in lists for installation in names[:-1]})
    return [*(name for name in before if name != lists[0][-1]), lists[0][-1]]


def _within_limit(entries: list[Json], lost: Counter[str]) -> str:
    """Encode entries as JSON in ASCII, which has as many characters as bytes. Beyond the limit, parts are left out and counted in
    `lost`. "" if there are no entries.
    """
    for member, what in (
        ("", ""),
        ("sql", "statements of tables with too much lineage"),
        ("columns", "columns of tables with too much lineage"),
    ):
        if member:
            lost[what] += sum(member in entry for entry in entries)
            entries = [{name: value for name, value in entry.items() if name != member} for entry in entries]
        if len(text := _compact(entries)) <= LONGEST_VALUE:
            return text if entries else ""
    room, kept = LONGEST_VALUE - 2, list[Json]()
    for entry in entries:
        room -= len(_compact(entry)) + 1
        if room < 0:
            break
        kept.append(entry)
    lost["jobs of tables with too much lineage"] += len(entries) - len(kept)
    return _compact(kept)


def _compact(value: Any) -> str:  # noqa: ANN401  # JSON
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _descriptions(facets: Json, lost: Counter[str]) -> dict[str, str]:
    """The descriptions of columns, by column; the one of the table itself has the empty name, which no column has."""
    fields = facets.get("schema", {}).get("fields") or ()
    texts = {str(field["name"]).lower(): field.get("description") for field in fields if isinstance(field, dict) and field.get("name")}
    texts = {"": facets.get("documentation", {}).get("description"), **texts}
    found = {}
    for name, text in texts.items():
        longest = LONGEST_COMMENT if name else LONGEST_DESCRIPTION
        whole = _SPACES.sub(" ", text).strip() if isinstance(text, str) else ""
        lost["ends of descriptions that are too long"] += len(whole.encode("utf-16-le")) > 2 * longest
        found[name] = whole.encode("utf-16-le")[: 2 * longest].decode("utf-16-le", "ignore")
    return {name: text for name, text in found.items() if text}
