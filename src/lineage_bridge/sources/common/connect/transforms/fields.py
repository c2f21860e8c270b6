"""How transforms change the fields of a record. Each function takes the record and the transform's settings, and returns the new record."""

from collections.abc import Iterable

from lineage_bridge.sources.common.connect.transforms.patterns import compile_java
from lineage_bridge.sources.common.connect.transforms.records import (
    HEADER,
    KEY,
    VALUE,
    WHOLE,
    Origins,
    Record,
    changed,
    is_in,
    mapped,
    moved,
)
from lineage_bridge.sources.common.connect.transforms.transform import Transform

MADE: Origins = frozenset()
"""The origins of a field that a transform creates: it has none."""


def keep(record: Record, _: Transform) -> Record:
    """Return the record with all its fields unchanged."""
    return record


def replace_field(record: Record, transform: Transform) -> Record:
    """Keep, drop and rename fields; the settings use the names before renaming."""
    included = transform.options_list("include", "whitelist")
    excluded = transform.options_list("exclude", "blacklist")
    renames = transform.pairs("renames")
    fields: dict[str, Origins] = {}
    for path, origins in record.part(transform.on).items():
        if (included and not named(path, included)) or named(path, excluded):
            continue
        old = next((name for name in renames if is_in(path, name)), None)
        fields[path if old is None else renames[old] + path[len(old) :]] = origins
    return record.with_part(transform.on, fields)


def mask_field(record: Record, transform: Transform) -> Record:
    """Mask the values of fields."""
    names = transform.options_list("fields")
    return record.with_part(transform.on, mapped(record.part(transform.on), names, _masked))


def hash_field(record: Record, transform: Transform) -> Record:
    """Apply Aiven's hash to one field, or to the whole key or value."""
    name = transform.option("field.name")
    names = [name] if name else record.part(transform.on)
    return record.with_part(transform.on, mapped(record.part(transform.on), names, _masked))


def extract_field(record: Record, transform: Transform) -> Record:
    """Replace the key or value by one of its fields."""
    name = transform.option("field", "field.name")
    return record.with_part(transform.on, moved(record.part(transform.on), name, WHOLE))


def extract_nested_field(record: Record, transform: Transform) -> Record:
    """Move a nested field to the top level."""
    fields = record.part(transform.on)
    inner = f"{transform.option('input.outer.field.name')}.{transform.option('input.inner.field.name')}"
    return record.with_part(transform.on, {**fields, **moved(fields, inner, transform.option("output.field.name"))})


def hoist_field(record: Record, transform: Transform) -> Record:
    """Wrap the key or value into a single field."""
    name = transform.option("field")
    fields = {f"{name}.{path}" if path else name: origins for path, origins in record.part(transform.on).items()}
    return record.with_part(transform.on, fields)


def flatten(record: Record, transform: Transform) -> Record:
    """Move nested fields to the top level, under combined names."""
    delimiter = transform.option("delimiter", default=".")
    return record.with_part(transform.on, {path.replace(".", delimiter): origins for path, origins in record.part(transform.on).items()})


def insert_field(record: Record, transform: Transform) -> Record:
    """Add fields from the record's metadata, or constants."""
    names = [transform.option(f"{what}.field") for what in ("topic", "partition", "offset", "timestamp", "static")]
    made = {name.rstrip("!?"): MADE for name in names if name}
    return record.with_part(transform.on, {**record.part(transform.on), **made})


def cast(record: Record, transform: Transform) -> Record:
    """Change the type of some fields, or of the whole key or value."""
    specs = transform.options_list("spec")
    names = [spec.partition(":")[0].strip() for spec in specs if ":" in spec]
    fields = record.part(transform.on)
    return record.with_part(transform.on, mapped(fields, names if len(names) == len(specs) else fields, changed))


def convert_timestamp(record: Record, transform: Transform) -> Record:
    """Change the format of a field that contains a time."""
    fields = record.part(transform.on)
    names = transform.options_list("field", "fields")
    return record.with_part(transform.on, mapped(fields, names or fields, changed))


def value_to_key(record: Record, transform: Transform) -> Record:
    """Build the key from fields of the value."""
    if VALUE in record.unknown:
        return record.forgetting([KEY])
    value = record.part(VALUE)
    made: dict[str, Origins] = {}
    for name in transform.options_list("fields"):
        made.update(moved(value, name, name))
    return record.knowing(KEY, made)


def key_to_value(record: Record, transform: Transform) -> Record:
    """Copy fields of the key to the value, under the same names unless others are set."""
    if KEY in record.unknown:
        return record.forgetting([VALUE])
    key, names = record.part(KEY), transform.options_list("key.fields")
    targets = transform.options_list("value.fields")
    if not names or names == ["*"]:
        made = {path or "_key": origins for path, origins in key.items()}
    else:
        made = {}
        for at, name in enumerate(names):
            made.update(moved(key, name, targets[at] if at < len(targets) else name))
    return record.with_part(VALUE, {**record.part(VALUE), **made})


def drop(record: Record, transform: Transform) -> Record:
    """Remove the whole key or the whole value."""
    return record.knowing(transform.on, {})


def header_from(record: Record, transform: Transform) -> Record:
    """Copy or move fields to headers."""
    if transform.on in record.unknown:
        return record
    fields, headers = record.part(transform.on), record.part(HEADER)
    names = transform.options_list("fields")
    for name, header in zip(names, transform.options_list("headers"), strict=False):
        headers.update(moved(fields, name, header))
    if transform.option("operation") == "move":
        fields = {path: origins for path, origins in fields.items() if not named(path, names)}
    return record.with_part(HEADER, headers).with_part(transform.on, fields)


def insert_header(record: Record, transform: Transform) -> Record:
    """Add a constant header."""
    return record.with_part(HEADER, {**record.part(HEADER), transform.option("header"): MADE})


def drop_headers(record: Record, transform: Transform) -> Record:
    """Remove headers."""
    names = transform.options_list("headers")
    return record.with_part(HEADER, {path: origins for path, origins in record.part(HEADER).items() if not named(path, names)})


def rename_by_pattern(record: Record, transform: Transform) -> Record:
    """Rename the fields whose names match a pattern."""
    pattern = compile_java(transform.option("field.name.regex", "pattern"))
    if pattern is None:
        return record.forgetting([transform.on])
    replacement = transform.option("replacement", "field.name.replacement")
    fields = {pattern.sub(lambda _: replacement, path): origins for path, origins in record.part(transform.on).items()}
    return record.with_part(transform.on, fields)


def concat_fields(record: Record, transform: Transform) -> Record:
    """Concatenate several fields into one."""
    fields = record.part(transform.on)
    names = transform.options_list("field.names")
    joined: Origins = frozenset().union(*(changed(origins) for path, origins in fields.items() if named(path, names)))
    return record.with_part(transform.on, {**fields, transform.option("output.field.name"): joined})


def only_topic_known(record: Record, _: Transform) -> Record:
    """Return a record without known fields, because the transform's effect on the fields is unknown."""
    return record.forgetting([KEY, VALUE])


def named(path: str, names: Iterable[str]) -> bool:
    """Whether a path is one of these fields or is inside one."""
    return any(is_in(path, name) for name in names)


def _masked(origins: Origins) -> Origins:
    return changed(origins, masking=True)
