"""Texts of any length in indexes of PostgreSQL. An index entry has at most 2,704 bytes, but names may be ten times as long.

So an index contains `key_text(text)` in place of a text: the text itself if it is short, otherwise its beginning with its SHA-256.
Different texts have different values of `key_text`. Statements use `key_text` where they look up a text, or where a text is part of a
unique key.
"""

import re
from collections.abc import Collection
from typing import Final

from lineage_bridge.graph.merge_rules import MergeRule, Type
from lineage_bridge.graph.relations import RELATIONS

KEY_TEXT: Final = (
    # A name of 200 bytes at most is never the key of a longer one, which has more.
    """CREATE FUNCTION long_key_text(long TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN rpad("left"(long, 32) || encode(sha256(convert_to(long, 'UTF8')), 'hex'), 201)""",
    """CREATE FUNCTION key_text(whole TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(whole) <= 200 THEN whole ELSE long_key_text(whole) END""",
)
"""`key_text` is written into statements by the planner, and calls a function only for a long text.

What they call is resolved when they are created, because indexes are also built by sessions that work in no schema, such as autovacuum's
and those of a restored dump.
"""

NAME_ORDER: Final = """CREATE FUNCTION name_order(namespace TEXT, name TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN replace("left"(namespace, 250), chr(1), chr(1) || chr(2))
|| CASE WHEN char_length(namespace) <= 250 THEN chr(1) || chr(1) || "left"(name, 250) ELSE chr(1) || chr(3) END"""
"""A text by which names are sorted as by namespace and name, except that long names may compare as equal. It is in an index, so that the
beginning of a list is read without the rest.
"""

_KEYS: Final[dict[str, frozenset[str]]] = {
    **{r.name: frozenset(c.name for c in r.columns if c.rule is MergeRule.KEY and c.type is Type.TEXT) for r in RELATIONS},
    "current_facet": frozenset({"key"}),
    "namespace_claim": frozenset({"a_namespace", "a_name", "b_namespace", "b_name", "evidence"}),
    "namespace_claim_evidence": frozenset({"key"}),
    "position": frozenset({"source"}),
    "rule": frozenset({"name"}),
}
"""The texts in the keys of tables whose statements say what happens to a row that is there already."""
_TABLE: Final = re.compile(r'\s*INSERT INTO "?(\w+)')
_CONFLICT: Final = re.compile(r"ON CONFLICT \(([^)]*)\)")
_NAMES: Final = r"(?:a_|b_|to_|other_)?namespace|(?:a_|b_|to_)?name|raw_id|parent_raw|root_raw|target_field|source_field"
LOOK_UP: Final = rf"""(?<![\w:."])(?P<text>(?:\w+\.)?(?:{_NAMES}))\ =\ (?P<value>\?|:[a-z]\w*|'(?:[^']|'')*'|(?:\w+\.)?[a-z]\w*\b(?!\())"""
"""A text that is compared with a value or with another text, as part of a verbose regular expression."""
_FIRST: Final = re.compile(r"\(SELECT min\(((?:\w+\.)?namespace)\) FROM (\w+(?: \w+)?)(?: WHERE \1 > ([\w.]+))?\)")


def with_name_order(sql: str) -> str:
    """Rewrite a statement so that nodes are sorted by the index on their names."""
    return sql.replace("ORDER BY namespace, name", "ORDER BY name_order(namespace, name), namespace, name")


def with_conflict_keys(sql: str) -> str:
    """Rewrite a statement so that its ON CONFLICT names the key as the table's unique index has it."""
    if "ON CONFLICT (" not in sql or not (table := _TABLE.match(sql)):
        return sql
    texts = _KEYS.get(table[1], frozenset())
    return _CONFLICT.sub(lambda found: f"ON CONFLICT ({indexed(found[1], texts)})", sql)


def with_first_texts(sql: str) -> str:
    """Rewrite a statement so that it finds the first namespace, or the one that follows another, by the index."""

    def looked_up(found: re.Match[str]) -> str:
        column, table, before = found.groups()
        later = f" WHERE key_text({column}) > key_text({before})" if before else ""
        return f"(SELECT {column} FROM {table}{later} ORDER BY key_text({column}) LIMIT 1)"

    return _FIRST.sub(looked_up, sql)


def indexed(columns: str, texts: Collection[str]) -> str:
    """The columns of an index, separated by commas, with `key_text` for those that are texts."""
    named = [column.strip() for column in columns.split(",")]
    return ", ".join(f"key_text({column})" if column.strip('"') in texts else column for column in named)
