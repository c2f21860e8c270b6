"""The one place that writes to the terminal. Text of users and producers is never interpreted as markup."""

import json
import sys

import click
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

GAP = 2
"""Spaces between two columns of a table."""


def console(*, err: bool = False) -> Console:
    """A console that adds no colours by itself, and wraps no lines unless it writes to a terminal."""
    terminal = (sys.stderr if err else sys.stdout).isatty()
    return Console(stderr=err, highlight=False, markup=False, emoji=False, soft_wrap=not terminal, width=None if terminal else 10_000)


def format_count(count: int, noun: str) -> str:
    """A count with its noun, as "1 event", "2 events" or "3 aliases"."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith('s') else 's'}"


def print_message(text: str) -> None:
    """Print a message for the user on standard error; results go to standard output."""
    click.echo(text, err=True)


def print_line(text: str) -> None:
    """Print a line of the result."""
    click.echo(text)


def print_json(value: object) -> None:
    """Print a result as indented JSON."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_json_line(value: object) -> None:
    """Print a result as one line of NDJSON."""
    click.echo(json.dumps(value, ensure_ascii=False))


def print_table(columns: list[str], rows: list[list[str]]) -> None:
    """Print a result as a table without borders.

    On a terminal cells wrap between words. If the words themselves do not fit side by side, each row is printed as a block of lines, one
    for each column, so that names and ids can still be copied whole. Elsewhere each row is one line.
    """
    out = console()
    fits = _narrowest_width(columns, rows) <= out.width
    with out.capture() as captured:
        out.print(_table(columns, rows) if fits else _blocks(columns, rows))
    for line in captured.get().splitlines():
        click.echo(line.rstrip())


def print_error(message: str, hint: str = "") -> None:
    """Print what went wrong and what to do, in one line."""
    line = " ".join(f"error: {message}{f' ({hint})' if hint else ''}".split())
    click.echo(line, err=True)


def _table(columns: list[str], rows: list[list[str]]) -> Table:
    table = Table(*columns, box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _blocks(columns: list[str], rows: list[list[str]]) -> Text:
    width = max(map(cell_len, columns)) + GAP
    blocks = [
        Text("\n").join(
            Text(f"{column:{width}}", style="bold").append(cell, style="not bold")
            for column, cell in zip(columns, row, strict=True)
            if cell
        )
        for row in rows
    ]
    return Text("\n\n").join(blocks)


def _narrowest_width(columns: list[str], rows: list[list[str]]) -> int:
    """The width of a table whose cells are wrapped between all words."""
    widths = (max(cell_len(word) for cell in column for word in (*cell.split(), "")) for column in zip(columns, *rows, strict=True))
    return sum(widths) + GAP * (len(columns) - 1)
