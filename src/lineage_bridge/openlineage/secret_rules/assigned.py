"""Where the value of an assignment (`name = value`, `name: value`) is in a text, if it can be a secret."""

import re

from lineage_bridge.openlineage.secret_rules.code import is_prompt, is_secrets_name, is_variable, takes_word
from lineage_bridge.openlineage.secret_rules.names import is_weak
from lineage_bridge.openlineage.secret_rules.sql import is_comparison, is_quoted_comparison
from lineage_bridge.openlineage.secret_rules.values import begins_reference, extends, is_expression, is_harmless, looks_up

_INDENTED = re.compile(r"\s*(?:[>|][+\-]?[ \t]{0,8})?\r?\n[ \t]+(?![\w.\-]+:)")
_QUOTED = re.compile(
    r"""\s*(?:!unsafe\s{1,3})?[@bBfFnNrRuU]{0,2}(?:(?P<escaped>\\+["'])(?P<a>.{0,65536}?)(?P=escaped)|''(?P<d>[^'\n]+)''"""
    r"""|"(?P<b>[^"\\]*(?:\\.[^"\\]*)*)"|'(?P<c>[^'\\]*(?:(?:\\.|'')[^'\\]*)*)'|`(?P<e>[^`\n]*)`)""",
    re.DOTALL,
)
_VARIABLE = re.compile(r"[\"'][A-Za-z_]\w{0,100}[\"']")
"""A variable of psql behind its colon: `PASSWORD :'app_password'`."""
_BRACED = re.compile(r"\{(?P<value>[^{}\s]+)\}(?=[;\s]|\Z)")
_BARE = re.compile(r"""(?P<value>[^\s;,&"'(){}\[\]<>\\]+)""")
FUNCTION = re.compile(
    r"""(?P<function>[A-Za-z_][\w.]{0,200}(?:::[\w.]{1,100}){0,4})[(\[]\s{0,4}(?:[bru]?(?P<quote>["'])(?P<value>[^"'\n]*)(?P=quote))?"""
)
_SEGMENT = re.compile(r"""(?P<value>[^\s;,&"'(){}\[\]<>\\/?]+)""")
PATH = re.compile(r"[\w.\-]{1,300}=[A-Za-z]{1,60}/[^\s?&]*")
_SHORTEST_SEGMENT = 3
_LINE_BREAK = re.compile(r"\\{1,8}n")
_VERSION = re.compile(r"\d+(?:\.\d+)+\Z")


def value_at(text: str, found: re.Match[str], *, sql: bool) -> tuple[int, int] | None:
    """The position of an assignment's value; None if no value can be a secret."""
    at = found.end()
    if sql and is_comparison(text, found.start(), found["name"]):
        return None
    quoted = _QUOTED.match(text, at)
    if is_prompt(text, found, quoted[0].lstrip()[:1]) if quoted else "!" in found["sign"]:
        return None
    if quoted and sql and found["sign"].endswith(" :") and _VARIABLE.fullmatch(quoted[0]):
        return None
    if quoted:
        group = next((key for key in "abcde" if quoted[key]), None)
        harmless = group is None or is_harmless(quoted[group]) or extends(found["name"], quoted[group])
        compared = group is not None and quoted[group].isalpha() and is_quoted_comparison(text, found.start(), found["name"])
        return None if harmless or compared or group is None else quoted.span(group)
    indented = _INDENTED.match(text, at)
    if sql or (indented and not {"'", '"'}.isdisjoint(found["sign"])):
        return None
    at = indented.end() if indented else at
    return None if begins_reference(text[at : at + 100]) else _bare_value(text, at, found)


def _bare_value(text: str, at: int, found: re.Match[str]) -> tuple[int, int] | None:
    """The position of an unquoted value, or of the string that a function is called with."""
    if (call := FUNCTION.match(text, at)) is not None:
        value = call["value"]
        is_none = not value or looks_up(call["function"]) or takes_word(call["function"], value) or is_harmless(value)
        return None if is_none else call.span("value")
    # In a path (`events/token=abc/x`) the value ends with its segment.
    segment = "=" in found["sign"] and (text[found.start() - 1] == "/" if found.start() else bool(PATH.fullmatch(text)))
    bare = _BRACED.match(text, at) or (_SEGMENT if segment else _BARE).match(text, at)
    if bare is None or _LINE_BREAK.match(text, at) or ("==" in found["sign"] and _VERSION.match(bare["value"])):
        return None
    if (segment and len(bare["value"]) < _SHORTEST_SEGMENT) or is_harmless(bare["value"]) or is_expression(found["name"], bare["value"]):
        return None
    names_another = (
        extends(found["name"], bare["value"])
        or is_variable(text, found, bare.end("value"))
        or (found["name"].lower().endswith("key") and is_secrets_name(bare["value"]))
    )
    is_word_of_path = segment and bare["value"].isalpha() and "pass" not in found["name"].lower()
    if names_another or is_word_of_path or (is_weak(found["name"]) and bare["value"].isdigit()):
        return None
    is_word = bare["value"].rstrip(".").isalpha() and ":" in found["sign"]
    behind = text[bare.end() : bare.end() + 100].lstrip(" \t") if text[bare.end() : bare.end() + 1] in " \t" else ""
    if is_word and (behind[:1].isalnum() or begins_reference(behind.split('"')[0])):
        return None
    return bare.span("value")
