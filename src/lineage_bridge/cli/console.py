"""Writes to the terminal; no other module does. Text of users and producers is never interpreted as markup."""

import json
import sys

import click
from rich.cells import cell_len
from rich.console import Console
from rich.tree import Tree

from lineage_bridge.cli.tables import table_lines, wrap

_UNITS = (("days", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def console(*, err: bool = False) -> Console:
    """Create a console that adds no colours by itself, and wraps lines only if it writes to a terminal."""
    terminal = (sys.stderr if err else sys.stdout).isatty()
    return Console(stderr=err, highlight=False, markup=False, emoji=False, soft_wrap=not terminal, width=None if terminal else 10_000)


def format_count(count: int, noun: str) -> str:
    """Write a count with its noun, such as "1 event", "2 events" or "3 aliases"."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith('s') else 's'}"


def print_message(text: str) -> None:
    """Print a message for the user on standard error; results go to standard output."""
    click.echo(text, err=True)


def print_line(text: str) -> None:
    """Print a line of the result. On a terminal it wraps, and continuation lines are indented."""
    out = console()
    if not out.is_terminal or cell_len(text) <= out.width:
        click.echo(text)
        return
    lead = " " * (len(text) - len(text.lstrip()))
    indent = f"{lead}    "
    click.echo(lead + f"\n{indent}".join(wrap(text, out.width - len(indent))))


def print_json(value: object) -> None:
    """Print a result as indented JSON."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_json_line(value: object) -> None:
    """Print a result as one line of NDJSON."""
    click.echo(json.dumps(value, ensure_ascii=False))


def print_table(columns: list[str], rows: list[list[str]]) -> None:
    """Print a result as a table. On a terminal cells wrap; elsewhere each row is one line."""
    out = console()
    header, *lines = table_lines(columns, rows, out.width if out.is_terminal else None)
    click.echo(click.style(header, bold=True))
    for line in lines:
        click.echo(line)


def print_tree(tree: Tree) -> None:
    """Print a result as a tree."""
    out = console()
    with out.capture() as captured:
        out.print(tree)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())


def format_seconds(seconds: float) -> str:
    """Write a length of time in the largest unit of which it is at least one, such as `2.5 h`."""
    name, length = next(((name, length) for name, length in _UNITS if seconds >= length), _UNITS[-1])
    return f"{seconds / length:.3g} {name}"


def format_time(text: str) -> str:
    """Format a time from an answer for tables: UTC, to the second."""
    return f"{text[:19].replace('T', ' ')}Z" if text else ""


def print_error(message: str, hint: str = "") -> None:
    """Print an error on one line: what went wrong and, in parentheses, the hint."""
    line = " ".join(f"error: {message}{f' ({hint})' if hint else ''}".split())
    click.echo(line, err=True)
