"""Compares a table of a metastore with what it should have, and makes the fewest statements that change it. Pure.

Comments and tags that others wrote are not changed. The mark is written before the comments and tags that it covers, and removed after
them. So if the process ends in between, what LineageBridge wrote is not mistaken for the work of others.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from lineage_bridge.catalogs.kinds.databricks import statements
from lineage_bridge.catalogs.kinds.databricks.statements import WITHOUT_PROPERTIES
from lineage_bridge.openlineage.event_builder import digest_of
from lineage_bridge.sources.common.unity.marks import MARKS, Marks, comment_id, parse_marks, short_digest, tag_id

MOST_TAGS: Final = 50
"""The maximum number of tags of a table, and of a column."""
LONGEST_TAG: Final = 1000
NO_VALUE: Final = "true"
"""The value of a tag that has only a key, as OpenLineage's clients write it."""
SYNCED: Final = "last_synced"
"""The property with the time of the last change, which does not count as a change."""
Tags = Mapping[str, Mapping[str, str]]


class FoundTable(NamedTuple):
    """A table as the metastore has it. Keys of `comments`, `tags` and `columns` are names of columns in lower case, and empty for the
    table itself; values of `columns` are the names as they are spelled. `kind` is the API's `table_type`.
    """

    name: str
    kind: str
    properties: Mapping[str, str]
    comments: Mapping[str, str]
    columns: Mapping[str, str]
    tags: Tags = MappingProxyType({})

    def marks(self, prefix: str) -> Marks:
        """The mark of what was published to the table under this prefix."""
        text = self.tags.get("", {}).get(prefix) if self.kind in WITHOUT_PROPERTIES else self.properties.get(f"{prefix}.{MARKS}")
        return parse_marks(text) or Marks()


class TableGoal(NamedTuple):
    """The goal of a table: properties by their names with the prefix, comments and tags by column. `content` is a digest of these."""

    content: str
    properties: Mapping[str, str]
    comments: Mapping[str, str]
    tags: Tags


NOTHING: Final = TableGoal("", {}, {}, {})


class TableStatement(NamedTuple):
    """A statement, and the `number` of properties, comments or tags (`what`) that it sets; 0 if it removes some."""

    text: str
    what: str = ""
    number: int = 0


@dataclass
class TableChanges:
    """The statements that change a table, in order, and the comments and tags of others that are kept. If there is an `obstacle`, no
    statement may be run.
    """

    statements: list[TableStatement] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    obstacle: str = ""


def content_of(properties: Mapping[str, str], comments: Mapping[str, str], tags: Tags) -> str:
    """A digest of everything that a table should have."""
    return short_digest(digest_of([properties, comments, tags]))


def state_of(table: FoundTable, prefix: str) -> str | None:
    """The digest of the content that was published to a table, if none of it was changed since; otherwise a text that differs from every
    digest. None if nothing was published to the table under this prefix.
    """
    marks, own = table.marks(prefix), _own(table, prefix)
    if not own and not marks.content:
        return None
    values = _values(table)
    changed = sorted(item for item, digests in marks.items.items() if short_digest(values.get(item, "")) not in digests)
    is_same = marks.properties == _digest_of_properties(own, prefix) or table.kind in WITHOUT_PROPERTIES
    return marks.content if marks.content and is_same and not changed else f"changed: {digest_of([own, changed, marks.text])}"


def needs_tags(table: FoundTable, goal: TableGoal, prefix: str) -> bool:
    """Whether the tags of a table must be read before it is changed."""
    return bool(goal.tags) or table.kind in WITHOUT_PROPERTIES or has_own_tags(table, prefix)


def has_own_tags(table: FoundTable, prefix: str) -> bool:
    """Whether tags were published to a table."""
    return any(item.startswith("t") for item in table.marks(prefix).items)


def changes_of(table: FoundTable, goal: TableGoal, prefix: str, time: str) -> TableChanges:
    """The changes that bring a table to its goal; without a goal, the changes that remove everything that was published. `time` is the time
    of this publication.
    """
    made, items = TableChanges(), dict[str, tuple[str, ...]]()
    comments = dict(_comments(table, goal, prefix, made, items))
    tags, gone = _tags(table, goal, prefix, made, items)
    made.statements += [TableStatement(statements.unset_tags(table.name, table.kind, column, keys)) for column, keys in gone.items()]
    made.statements += [TableStatement(statements.set_comment(table.name, column, "")) for column, text in comments.items() if not text]
    marks = Marks(goal.content, _digest_of_properties(goal.properties, prefix), items) if goal.content else Marks()
    if table.kind in WITHOUT_PROPERTIES and (why := _obstacle(table, marks, prefix)):
        return TableChanges(obstacle=why)
    made.statements += _marked(table, goal, prefix, marks, time, has_more=bool(made.statements or comments or tags))
    set_ones = ((column, text) for column, text in comments.items() if text)
    made.statements += [TableStatement(statements.set_comment(table.name, column, text), "comments", 1) for column, text in set_ones]
    made.statements += [
        TableStatement(statements.set_tags(table.name, table.kind, *found), "tags", len(found[1])) for found in tags.items()
    ]
    return made


def _obstacle(table: FoundTable, marks: Marks, prefix: str) -> str:
    """The reason why nothing is published to a table that cannot have properties; empty if something is published."""
    if len(marks.text) > LONGEST_TAG:
        return "it has more tags than a tag can record, and Databricks sets no properties of such tables"
    if marks.content and not marks.items and not table.marks(prefix).content:
        return "Databricks sets no properties of streaming tables and materialized views, and it gets no tags"
    return ""


def _comments(
    table: FoundTable, goal: TableGoal, prefix: str, made: TableChanges, items: dict[str, tuple[str, ...]]
) -> Iterator[tuple[str, str]]:
    """The comments to set, by the spelled names of columns; empty ones are removed. Also adds the marks of these comments to `items`.

    If the table cannot have properties, no comments are set, because a source that lists tables could not recognise them as
    LineageBridge's.
    """
    if table.kind in WITHOUT_PROPERTIES:
        return
    marks = table.marks(prefix)
    for column, spelled in sorted({"": "", **table.columns}.items()):
        item, current, desired = comment_id(column), table.comments.get(column, ""), goal.comments.get(column, "")
        if current and not marks.covers(item, current):
            if desired and desired != current:
                made.left.append(f"comment of {spelled}" if column else "comment")
            continue
        if desired:
            items[item] = _digests(desired, current)
        if desired != current:
            yield spelled, desired


def _tags(
    table: FoundTable, goal: TableGoal, prefix: str, made: TableChanges, items: dict[str, tuple[str, ...]]
) -> tuple[dict[str, dict[str, str]], dict[str, list[str]]]:
    """The tags to set, and the keys of those to remove, by the spelled names of columns. Also adds the marks of these tags to `items`."""
    marks, to_set, gone = table.marks(prefix), dict[str, dict[str, str]](), dict[str, list[str]]()
    for column, spelled in sorted({"": "", **table.columns}.items()):
        current, desired = table.tags.get(column, {}), goal.tags.get(column, {})
        stays = [key for key, value in current.items() if key in desired or not marks.covers(tag_id(column, key), value)]
        room = MOST_TAGS - len(stays) - (table.kind in WITHOUT_PROPERTIES and not column and prefix not in current)
        for key in sorted(current.keys() | desired.keys()):
            item, before, after = tag_id(column, key), current.get(key), desired.get(key)
            if before is not None and not marks.covers(item, before):
                if after is not None and after != before:
                    made.left.append(f"tag {key} of {spelled}" if column else f"tag {key}")
            elif after is None:
                gone.setdefault(spelled, []).append(key)
            elif before is None and room <= 0:
                made.left.append(f"tag {key}, which is one too many")
            else:
                room -= before is None
                items[item] = _digests(after, before)
                if after != before:
                    to_set.setdefault(spelled, {})[key] = after
    return to_set, gone


def _marked(table: FoundTable, goal: TableGoal, prefix: str, marks: Marks, time: str, *, has_more: bool) -> Iterator[TableStatement]:
    """The statements that set and remove properties, and with them the mark."""
    if table.kind in WITHOUT_PROPERTIES:
        before = table.tags.get("", {}).get(prefix)
        if goal.content and before != marks.text:
            yield TableStatement(statements.set_tags(table.name, table.kind, "", {prefix: marks.text}))
        elif not goal.content and before is not None:
            yield TableStatement(statements.unset_tags(table.name, table.kind, "", [prefix]))
        return
    own = _own(table, prefix)
    desired = {**goal.properties, f"{prefix}.{MARKS}": marks.text} if goal.content else {}
    if gone := own.keys() - desired.keys() - ({f"{prefix}.{SYNCED}"} if goal.content else set()):
        yield TableStatement(statements.unset_properties(table.name, table.kind, gone))
    changed = {name: value for name, value in desired.items() if own.get(name) != value}
    if changed or (goal.content and has_more):
        changed[f"{prefix}.{SYNCED}"] = time
        yield TableStatement(statements.set_properties(table.name, table.kind, changed), "properties", len(changed))


def _own(table: FoundTable, prefix: str) -> dict[str, str]:
    return {name: value for name, value in table.properties.items() if name.startswith(f"{prefix}.")}


def _digest_of_properties(properties: Mapping[str, str], prefix: str) -> str:
    unmarked = {name: value for name, value in properties.items() if name not in (f"{prefix}.{MARKS}", f"{prefix}.{SYNCED}")}
    return short_digest(digest_of(unmarked))


def _values(table: FoundTable) -> dict[str, str]:
    """All comments and tags of a table, by their ids."""
    found = {comment_id(column): text for column, text in table.comments.items() if text}
    return found | {tag_id(column, key): value for column, tags in table.tags.items() for key, value in tags.items()}


def _digests(desired: str, current: str | None) -> tuple[str, ...]:
    """The digests of a value that LineageBridge writes, and of its earlier value that the new one replaces."""
    return tuple(short_digest(text) for text in ((desired, current) if current and current != desired else (desired,)))
