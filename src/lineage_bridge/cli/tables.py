"""Lays out tables: decides how wide each column is on the terminal, and where cells wrap."""

import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

GAP = 2
"""Spaces between two columns."""
LONGEST_PIECE = 24
"""The width up to which a piece of a name, between two separators, is not split."""
_WHOLE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\d.:,-]+Z?")
"""Ids of runs, times and numbers: words that never wrap."""
_PIECE = re.compile(r"[^./_,;@-]*[./_,;@-]+|[^./_,;@-]+")


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """Write a table as lines of at most `width` columns, the header first. Without `width`, each row is one line.

    Cells wrap between words, then after the separators in names. If that is not enough, every row is a block with a line for each
    column.
    """
    if width is None:
        return list(_lines(columns, rows, _natural_widths(columns, rows)))
    filled = [number for number in range(len(columns)) if any(row[number] for row in rows)]
    columns, rows = [columns[number] for number in filled], [[row[number] for number in filled] for row in rows]
    widths = _fitting_widths(columns, rows, width)
    return list(_lines(columns, rows, widths) if widths else _blocks(columns, rows, width))


def wrap(text: str, width: int) -> list[str]:
    """Split a text into lines of at most `width` columns."""
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= width:
            lines[-1] = joined
        else:
            first, *others = _wrap_word(word, width)
            lines += [first, *others]
    return lines if len(lines) == 1 or lines[0] else lines[1:]


def _wrap_word(word: str, width: int) -> list[str]:
    lines = [""]
    for piece in _pieces(word):
        if cell_len(lines[-1] + piece) <= width:
            lines[-1] += piece
        else:
            lines += [piece[start : start + width] for start in range(0, len(piece), width)]
    return lines if lines[0] else lines[1:]


def _pieces(word: str) -> list[str]:
    return [word] if _WHOLE.fullmatch(word) else _PIECE.findall(word)


def _natural_widths(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)]


def _fitting_widths(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Choose the widths of columns so that they fit, by narrowing the widest ones first. Empty if they cannot be that narrow."""
    widths = _natural_widths(columns, rows)
    least = [max(map(_least_width, column)) for column in zip(columns, *rows, strict=True)]
    while sum(widths) + GAP * (len(widths) - 1) > width:
        shrinkable = [number for number in range(len(widths)) if widths[number] > least[number]]
        if not shrinkable:
            return []
        widths[max(shrinkable, key=lambda number: widths[number])] -= 1
    return widths


def _least_width(cell: str) -> int:
    indent = len(cell) - len(cell.lstrip())
    widths = [cell_len(word) if _WHOLE.fullmatch(word) else min(LONGEST_PIECE, cell_len(word)) for word in cell.split()]
    return indent + max(widths, default=0)


def _lines(columns: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> Iterator[str]:
    for row in (columns, *rows):
        cells = [wrap(cell, width) if cell_len(cell) > width else [cell] for cell, width in zip(row, widths, strict=True)]
        for number in range(max(map(len, cells))):
            lines = [cell[number] if number < len(cell) else "" for cell in cells]
            yield "".join(f"{line}{' ' * (width - cell_len(line) + GAP)}" for line, width in zip(lines, widths, strict=True)).rstrip()


def _blocks(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    indent = max(map(cell_len, columns)) + GAP
    for number, row in enumerate(rows):
        if number:
            yield ""
        for column, cell in zip(columns, row, strict=True):
            for position, line in enumerate(wrap(cell, max(1, width - indent))) if cell else ():
                yield f"{'' if position else column:{indent}}{line}"
