"""The one place that writes to the terminal. What users and producers wrote is never read as markup."""

import json
import sys

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text


def console(*, err: bool = False) -> Console:
    """A console that colours nothing by itself and breaks no line when it is not a terminal."""
    terminal = (sys.stderr if err else sys.stdout).isatty()
    return Console(stderr=err, highlight=False, markup=False, emoji=False, soft_wrap=not terminal, width=None if terminal else 10_000)


def counted(count: int, thing: str) -> str:
    """A number of things, as "1 event" or "2 events"."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def say(text: str) -> None:
    """A line for the user to read, on standard error; results go to standard output."""
    click.echo(text, err=True)


def write(text: str) -> None:
    """A line of the result."""
    click.echo(text)


def write_json(value: object) -> None:
    """A result for programs."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def write_line(value: object) -> None:
    """A result for programs, as a line of NDJSON."""
    click.echo(json.dumps(value, ensure_ascii=False))


def write_table(columns: list[str], rows: list[list[str]]) -> None:
    """A result as a table without lines."""
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)


def tell_error(message: str, hint: str = "") -> None:
    """What went wrong and what to do, in one line."""
    line = " ".join(f"error: {message}{f' ({hint})' if hint else ''}".split())
    click.echo(line, err=True)
