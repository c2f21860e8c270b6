"""Rewords error messages of sqlglot, so that they fit the text that the user wrote."""

import re

_MISSING = re.compile(r"Required (?:keyword|argument): '\w+' missing for .*")
_EXPECTED = re.compile(r"Expect(?:ed|ing) (?P<what>.+?)(?: but got .*)?")
_WHAT = {
    "table name": "the name of a table",
    "database name": "the name of a database",
    "type": "a type",
    "CTE to have alias": "the name of a query",
}
_CTE = re.compile(r"\w+ does not support CTE|Failed to parse any statement following CTE")


def quoted(text: str, *, is_string: bool) -> str:
    """A token as an error message quotes it. The content of a string is left out, because it may be a secret."""
    return "a string" if is_string else f"'{text}'"


def explained(description: str, found: str, *, last: bool = False) -> str:
    """Convert sqlglot's error message to the project's wording.

    `found` is the unexpected token as `quoted` returns it, empty at the end of the statement. `last`: whether the token is the last one
    of the statement.
    """
    if _MISSING.fullmatch(description):
        return f"an expression is missing at {found}" if found else "an expression is missing at the end"
    expected = _EXPECTED.fullmatch(description.rstrip("."))
    what = "a query after WITH" if _CTE.fullmatch(description) else expected["what"] if expected is not None else ""
    if what and "<" not in what:
        return _expected(_WHAT.get(what, what), found, last=last)
    if description.startswith("Invalid expression / Unexpected token"):
        return f"{found} is not expected here" if found else "the statement ends too early"
    if "<" in description or not description:
        return f"{found} is not understood here" if found else "this statement is not understood"
    return description.rstrip(".")


def _expected(what: str, found: str, *, last: bool) -> str:
    if what == "END after CASE":
        return f"the END of a CASE is missing after {found}"
    if what == "a query after WITH":
        return f"a query is expected after WITH{f', not {found}' if found else ''}"
    if last:
        return f"the statement ends with {found}, but {what} is expected"
    return f"{what} is expected here{f', not {found}' if found else ''}"
