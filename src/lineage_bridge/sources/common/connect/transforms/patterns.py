"""Converts regular expressions of Java, in settings of connectors and transforms, to those of Python."""

import re
import warnings
from functools import lru_cache

_TO_PYTHON = (
    (re.compile(r"\(\?<(?=[A-Za-z])"), "(?P<"),
    (re.compile(r"\\p\{Alnum\}"), "[0-9A-Za-z]"),
    (re.compile(r"\\p\{Alpha\}"), "[A-Za-z]"),
)
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|\Z)", re.DOTALL)
_INLINE_FLAGS = re.compile(r"(?P<before>(?:[^\\(\[]|\\.)*)\(\?(?P<flags>[imsux]+)\)(?P<after>.*)", re.DOTALL)
"""A pattern with flags before its first group: Java allows them anywhere, Python at the very start or around what follows."""
_REFERENCE = re.compile(r"\\(.)|\$\{(\w+)\}|\$(\d)", re.DOTALL)


@lru_cache(4096)
def compile_java(pattern: str, flags: int = 0) -> re.Pattern[str] | None:
    """Compile a Java pattern as a Python pattern; None if it cannot be converted."""
    text = _QUOTED.sub(lambda match: re.escape(match[1]), pattern)
    for java, python in _TO_PYTHON:
        text = java.sub(python, text)
    if flagged := _INLINE_FLAGS.fullmatch(text):
        text = f"{flagged['before']}(?{flagged['flags'].replace('u', '')}:{flagged['after']})"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(text, flags)
        except (re.error, OverflowError, RecursionError):
            return None


def replace_all_of(pattern: str, replacement: str, text: str) -> str | None:
    """Replace a match in a text, as Java's `matches` followed by `replaceFirst` do. None if the pattern does not match the whole text
    or cannot be converted.
    """
    compiled = compile_java(pattern)
    if compiled is None or not compiled.fullmatch(text):
        return None
    first = compiled.search(text)
    return None if first is None else text[: first.start()] + _expand(first, replacement) + text[first.end() :]


def _expand(match: re.Match[str], replacement: str) -> str:
    def referenced(reference: re.Match[str]) -> str:
        if reference[1] is not None:
            return reference[1]
        group: str | int = reference[2] or int(reference[3])
        try:
            return match[group] or ""
        except IndexError:
            return reference[0]

    return _REFERENCE.sub(referenced, replacement)


def listed(value: str) -> list[str]:
    """Return the elements of a comma-separated list, stripped, without empty ones."""
    return [element for element in (part.strip() for part in value.split(",")) if element]
