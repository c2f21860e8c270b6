"""Describes the settings of a kind of source, input or target, for people and for forms of the page."""

from collections.abc import Container
from typing import Any

from pydantic import BaseModel

from lineage_bridge.model.sources import SettingRecord


def describe_settings(settings: type[BaseModel], hidden: Container[str] = ()) -> tuple[SettingRecord, ...]:
    """Describe each setting, in the order in which they are defined. Those in `hidden` are left out."""
    schemas = settings.model_json_schema()["properties"]
    return tuple(
        SettingRecord(
            field,
            info.is_required(),
            None if info.is_required() else _plain(info.get_default(call_default_factory=True)),
            info.description or "",
            _is_secret(schemas.get(field, {})),
            _is_list(schemas.get(field, {})),
        )
        for field, info in settings.model_fields.items()
        if field not in hidden
    )


def _is_secret(schema: dict[str, Any]) -> bool:
    """Whether the value of a setting is a reference to a secret."""
    return any(option.get("secret") is True for option in (schema, *schema.get("anyOf", ())))


def _is_list(schema: dict[str, Any]) -> bool:
    """Whether the value of a setting is always a list, and cannot be a text instead."""
    types = [option.get("type") for option in schema.get("anyOf", [schema])]
    return "array" in types and "string" not in types


def _plain(default: Any) -> Any:  # noqa: ANN401  # of any setting
    return default.model_dump() if isinstance(default, BaseModel) else default
