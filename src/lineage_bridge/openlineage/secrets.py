"""Finds secrets by the name of a setting, and by their format inside a text."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter

from lineage_bridge.openlineage.prefilter import Prefilter, Rule, Texts, rules
from lineage_bridge.openlineage.required_text import fold
from lineage_bridge.openlineage.secret_rules.assigned import FUNCTION, PATH, value_at
from lineage_bridge.openlineage.secret_rules.code import LOGIN_USERS, NAMED, called, is_port
from lineage_bridge.openlineage.secret_rules.commands import COMMANDS, SET_BY_NAME
from lineage_bridge.openlineage.secret_rules.foreign import NAMES
from lineage_bridge.openlineage.secret_rules.forms import FORMS, Mask, mask_forms
from lineage_bridge.openlineage.secret_rules.names import SECRET_WORDS, WORKING_DIRECTORIES, holds_secret, names_secret
from lineage_bridge.openlineage.secret_rules.prose import PROSE, SENTENCES
from lineage_bridge.openlineage.secret_rules.sql import (
    CONNECTIONS,
    INSERT,
    WITH_LITERALS,
    is_sql,
    mask_arguments,
    mask_comments,
    mask_inserted,
    mask_literals,
)
from lineage_bridge.openlineage.secret_rules.values import (
    MASK,
    is_expression,
    is_harmless,
    is_reference,
    looks_secret,
)
from lineage_bridge.openlineage.secret_rules.weak_names import WEAK_WORDS, holds_weakly

_CACHED = 8192
_CACHED_CHARACTERS = 512

# A name matches only from its start, and long parts match in only one way, so that the time stays linear.
_ASSIGNED = re.compile(r"""(?<![\w.\-])(?P<name>[\w.\-]{1,300})(?P<sign>[\\"'`\]]{0,8}[ \t]{0,8}(?:[=\-]>|:=|[=!]?=|:)[ \t]{0,8})""")
_NAME_BACKWARDS = re.compile(r"[\w.\-]*")
_LONGEST_NAME = 300
_SIGNS_OF_NAMES = frozenset("_.-")
_WHOLE = re.compile(r"\s*(?P<name>[\w.\-]{1,300})\s*=(?![ \t]*\r?\n[\w.\-]{1,300}=)\s*(?P<value>.+)", re.DOTALL)
_BEFORE_A_WORD = re.compile(r"(?:secret|credential)s?[_\-](?!key|value|access|token|text|string)[a-z]{3,}\Z")
_COMMENT = re.compile(r"(?<!\s)\s{1,20}(?:#|//)\s.*", re.DOTALL)
_FOLLOWED = re.compile(r"\n|\s[\w.\-]{1,300}\s?=")
"""What follows the only value of a setting."""
SIGNATURES = frozenset(("sig", "signature", "x-amz-signature", "x-goog-signature", "q-signature"))
_SPACED = re.compile(
    r"(?<![\w\-])(?P<name>[A-Za-z]\w{0,40}[_\-]\w{1,40})[ \t]{1,3}\\{0,2}'?(?P<value>(?=\S{0,60}\d)[A-Za-z0-9][^\s\"'=:]{7,300})"
)
"""`secret_access_key x`, or `BEARER_TOKEN 'x'` in a statement that is quoted."""
_PARAMETER = re.compile(r"(?<=[?&;])(?P<name>[\w.\-]{1,300})=(?P<value>(?!\{)[^\s;&\"']+)")
_CALL = re.compile(r"""\(\s*\\*["'](?P<name>[\w.\-]{1,300})\\*["']\s*,\s*(?P<quote>\\*["'])(?P<value>[^"'\\]+)(?P=quote)""")
_LATER_ARGUMENT = re.compile(r""",\s*\\*["'](?P<name>[\w.\-]{1,300})\\*["']\s*,\s*(?P<quote>\\*["'])(?P<value>[^"'\\]+)(?P=quote)""")
"""Two arguments of a function, or elements of a list: a name and its value."""
_UNEXPECTED = re.compile(r"(?:unexpected|expected|mismatched|illegal)\s\Z", re.IGNORECASE)
_OPTION_OF_SQL = re.compile(r"\s'")
"""The text between the name of a statement's option and its value."""
_WORDS = SECRET_WORDS | NAMES | WEAK_WORDS
_NAMES = _WORDS | SIGNATURES | {fold(name) for name in WORKING_DIRECTORIES}
"""Texts of which each name that a secret can be assigned to contains at least one."""
_NAME_PARTS = Texts(_NAMES)
RULES = Prefilter(
    {
        "forms": rules(FORMS),
        "named": rules(NAMED, _WORDS),
        "calls": rules([_CALL], _WORDS),
        "arguments": rules([_LATER_ARGUMENT], _WORDS),
        "spaced": rules([_SPACED], SECRET_WORDS),
        "parameters": rules([_PARAMETER], _WORDS | SIGNATURES),
        "assigned": rules([_ASSIGNED], _NAMES),
        "prose": rules(PROSE),
        "sentences": rules(SENTENCES),
        "functions": rules([CONNECTIONS]),
        "inserts": rules([INSERT], _WORDS),
        "logins": rules([LOGIN_USERS]),
        "literals": rules(WITH_LITERALS),
        "options": rules([_OPTION_OF_SQL], _WORDS),
    }
)
_COMMANDS = frozenset(COMMANDS)
_BETWEEN_ARGUMENTS = "\x1f"
_INSIDE = dict(zip(map(ord, " \t\n\r'\"`|;&<>"), map(chr, range(0xE000, 0xF8FF)), strict=False))
_OUTSIDE = {ord(stand_in): sign for sign, stand_in in _INSIDE.items()}
"""What stands for signs inside of arguments which have a meaning between them: characters for private use, and back."""
_BESIDE_FORMS = itemgetter(*(group for group in RULES.no_rules if group != "forms"))


def mask_text(text: str) -> str:
    """The text with its secrets masked; equal to `text` if there are none. Results for short texts are cached."""
    return _mask_text_cached(text) if len(text) <= _CACHED_CHARACTERS else _mask_text(text)


def mask_command(arguments: Sequence[str], mask: Mask) -> list[str]:
    """The arguments of a command, the program being the first, with their secrets masked as in a command line."""
    line = _BETWEEN_ARGUMENTS.join(argument.translate(_INSIDE) for argument in arguments)
    worth_trying = RULES.worth_trying(line)

    def inside(secret: str) -> str:
        words = secret.translate(_OUTSIDE).split()
        return secret if words and is_reference(words[0].strip("\"'")) else mask(secret)  # a whole line in one argument

    line = mask_forms([rule for rule in worth_trying["forms"] if rule.given in _COMMANDS], line, inside)
    for rule in worth_trying["named"]:
        if rule.pattern is SET_BY_NAME:
            line = rule.sub(lambda found: _masked_named(found, mask), line)
    masked = line.split(_BETWEEN_ARGUMENTS)
    return [argument.translate(_OUTSIDE) for argument in masked] if len(masked) == len(arguments) else list(arguments)


def _mask_text(text: str) -> str:
    return mask_with(text, lambda _: MASK)


_mask_text_cached = lru_cache(_CACHED)(_mask_text)


def mask_with(text: str, mask: Mask) -> str:
    """The text with its secrets replaced."""
    worth_trying = RULES.worth_trying(text)
    if worth_trying is RULES.no_rules:
        return text
    text = mask_forms(worth_trying["forms"], text, mask)
    if "=" not in text and not any(_BESIDE_FORMS(worth_trying)):
        return text
    sql = is_sql(text)
    whole = None if sql or "=" not in text or PATH.fullmatch(text) else _WHOLE.fullmatch(text)
    if whole and names_secret(whole["name"]) and not _FOLLOWED.search(whole["value"]) and not _is_code(whole):
        return _replaced(whole, mask)
    text = _masked_statement(text, mask, worth_trying) if sql else _masked_functions(text, mask, worth_trying)
    for pattern in worth_trying["logins"] if "LoginModule" in text else ():
        text = pattern.sub(lambda found: _replaced(found, mask), text)
    for pattern in worth_trying["named"]:
        text = pattern.sub(lambda found: _masked_named(found, mask), text)
    for pattern in worth_trying["calls"]:
        text = pattern.sub(lambda found: _masked_call(found, mask), text)
    text = text if sql else _masked_pairs(text, mask, worth_trying)
    for pattern in worth_trying["parameters"]:
        text = pattern.sub(
            lambda found: _replaced(found, mask) if names_secret(found["name"]) or found["name"].lower() in SIGNATURES else found[0], text
        )
    if worth_trying["assigned"]:
        text = _masked_assignments(text, mask, sql=sql)
    return mask_forms((*worth_trying["prose"], *(() if sql else worth_trying["sentences"])), text, mask)


def _masked_pairs(text: str, mask: Mask, worth_trying: Mapping[str, Sequence[Rule]]) -> str:
    """Mask values that follow their name without an operator. For texts that are not SQL statements."""
    for pattern in worth_trying["arguments"]:
        text = pattern.sub(lambda found: _masked_call(found, mask), text)
    for pattern in worth_trying["spaced"]:
        text = pattern.sub(
            lambda found: _replaced(found, mask) if names_secret(found["name"]) and looks_secret(found["value"]) else found[0], text
        )
    return text


def _masked_statement(text: str, mask: Mask, worth_trying: Mapping[str, Sequence[Rule]]) -> str:
    if not any(worth_trying[group] for group in ("assigned", "literals", "options")):
        return text
    known: dict[str, str] = {}  # statements repeat their literals

    def inside(literal: str) -> str:
        masked = known.get(literal)
        if masked is None:
            masked = _masked_assignments(literal, mask, sql=False)
            if len(known) < _CACHED:
                known[literal] = masked
        elif masked != literal:
            mask(literal)  # a secret counts each time it occurs
        return masked

    return mask_comments(mask_literals(text, names_secret, inside, mask), inside)


def _masked_functions(text: str, mask: Mask, worth_trying: Mapping[str, Sequence[Rule]]) -> str:
    """Mask credentials in calls of ClickHouse's functions, and in rows to insert. For texts in which SQL statements are quoted."""
    text = mask_arguments(text, mask, CONNECTIONS) if worth_trying["functions"] else text
    return mask_inserted(text, names_secret, mask) if worth_trying["inserts"] else text


def _is_code(whole: re.Match[str]) -> bool:
    """Whether a value is an expression, or the command after an environment variable."""
    first, *others = whole["value"].split(maxsplit=1)
    if others and (whole["name"].isupper() or is_reference(first)):
        return True
    value = _COMMENT.sub("", whole["value"])
    return is_expression(whole["name"], value.rstrip(";")) or bool(FUNCTION.match(whole["value"]))


def _masked_named(found: re.Match[str], mask: Mask) -> str:
    name = found["name"].strip("-").rpartition(":")[2]
    return _replaced(found, mask) if holds_secret(name, found["value"].strip("\"'")) else found[0]


def _masked_call(found: re.Match[str], mask: Mask) -> str:
    if not names_secret(found["name"]):
        return found[0]
    sets, is_text = called(found.string, found.start())
    is_set = sets and found[0].startswith("(")
    if is_text and not (is_set and looks_secret(found["value"])):
        return found[0]
    return _replaced(found, mask) if is_set or looks_secret(found["value"]) else found[0]


def _masked_assignments(text: str, mask: Mask, *, sql: bool) -> str:
    """The text with the value of `name = value` and `name: value` masked if the name is a secret's."""
    if not any(sign in text for sign in "=:>"):
        return text
    pieces: list[str] = []
    end = at = 0
    tried = -1
    for inside in _NAME_PARTS.starts(fold(text)):
        name = _name_start(text, inside) if inside >= at else tried
        found = _ASSIGNED.match(text, name) if name != tried and name >= at else None
        tried = name
        if found is None or is_port(text, found):
            continue
        at = found.end()
        sure = _assigns_secret(found, text)
        value = value_at(text, found, sql=sql) if sure or not sql else None
        if value is None or not (sure or holds_weakly(found["name"], text[slice(*value)])):
            continue
        start, stop = value
        pieces += (text[end:start], mask(text[start:stop]))
        end = at = stop
    return "".join((*pieces, text[end:]))


def _name_start(text: str, inside: int) -> int:
    """The start of the name that contains this position of a text."""
    last = text[inside - 1 : inside]
    if not last.isalnum() and last not in _SIGNS_OF_NAMES:
        return inside
    before = _NAME_BACKWARDS.match(text[max(0, inside - _LONGEST_NAME) : inside][::-1])
    return inside - before.end() if before else inside


def _assigns_secret(found: re.Match[str], text: str) -> bool:
    name = found["name"]
    if name == "--secret" and "gcloud secrets" in text:
        return False
    if found["sign"] == ":" and text[found.start() - 1 : found.start()] == ":":
        return False  # `arn:aws:secretsmanager:...:secret:name`
    if found["sign"] == ":" and (_BEFORE_A_WORD.search(name) or (found.start() == 0 and "/" in text and " " not in text)):
        return False  # `secret_santa:orders`, `secret:shop/db`
    if found["sign"].startswith(":") and name == "token" and _UNEXPECTED.search(text[max(0, found.start() - 20) : found.start()]):
        return False
    if name in WORKING_DIRECTORIES and "=" in found["sign"]:
        return not text[found.end() :].lstrip("{\"'").startswith(("/", "~", ".", "$", "C:", "\\"))
    return names_secret(name) or ("=" in found["sign"] and name.lower() in SIGNATURES)


def _replaced(found: re.Match[str], mask: Mask) -> str:
    """The text of a match with its `value` masked. Quotes around the value are kept."""
    start, stop = (at - found.start() for at in found.span("value"))
    value = found["value"]
    if value[:1] in "\"'" and value[-1:] == value[:1] and len(value) > 1:
        start, stop, value = start + 1, stop - 1, value[1:-1]
    if not value or is_harmless(value):
        return found[0]
    return found[0][:start] + mask(value) + found[0][stop:]
