"""Generators of ids, times, secrets and columns. They always return the same values."""

import hashlib
import string
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]  # installed before Python 3.11 only

Json = dict[str, Any]
LETTERS = string.ascii_lowercase + string.digits
NOW = "2026-03-02T12:00:00Z"
"""The current time of the organization."""


def token(name: str, length: int = 6) -> str:
    """Random-looking letters and digits."""
    number = int.from_bytes(hashlib.sha256(name.encode()).digest(), "big")
    text = ""
    for _ in range(length):
        number, at = divmod(number, len(LETTERS))
        text += LETTERS[at]
    return text


def number(name: str, below: int) -> int:
    """A random-looking number, at least 0."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big") % below


def uid(name: str) -> str:
    """A random-looking UUID."""
    text = hashlib.sha256(name.encode()).hexdigest()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:32]}"


def time(name: str) -> str:
    """A random-looking time in the year before NOW."""
    at = number(name, 300)
    return f"2025-{1 + at // 28:02}-{1 + at % 28:02}T{at % 24:02}:{at % 60:02}:{(at * 7) % 60:02}.{at * 997 % 1000000:06}Z"


def load(name: str) -> Json:
    """A part of the organization that is defined in a TOML file."""
    content: Json = tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))
    return content


class Secrets:
    """Creates secrets and remembers them."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def create(self, name: str) -> str:
        """A secret of 48 characters that occurs nowhere else."""
        secret = "Zq" + hashlib.sha256(f"secret of {name}".encode()).hexdigest()[:46].translate(str.maketrans("0123", "GHKX"))
        if secret not in self.given:
            self.given.append(secret)
        return secret


def fields(text: str) -> list[Json]:
    """Columns from `name:type name:type`. A type is string (the default), int, long, double, boolean, timestamp or `{...}` with columns."""
    columns: list[Json] = []
    depth, column = 0, ""
    for sign in text + " ":
        depth += (sign == "{") - (sign == "}")
        if sign == " " and not depth:
            if column:
                name, _, kind = column.partition(":")
                columns.append(
                    {"name": name, "type": "record", "fields": fields(kind[1:-1])}
                    if kind[:1] == "{"
                    else {"name": name, "type": kind or "string"}
                )
            column = ""
        else:
            column += sign
    return columns


def paths(columns: list[Json], lead: str = "") -> list[str]:
    """The dotted paths of all columns without inner columns."""
    return [
        path
        for column in columns
        for path in (paths(column["fields"], f"{lead}{column['name']}.") if "fields" in column else [lead + column["name"]])
    ]
