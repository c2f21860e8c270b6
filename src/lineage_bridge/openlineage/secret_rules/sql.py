"""Secrets in SQL: in string literals, after options, and in functions that take credentials."""

import re
from collections.abc import Callable

from lineage_bridge.openlineage.prefilter import Prefilter, rules
from lineage_bridge.openlineage.secret_rules.forms import Mask
from lineage_bridge.openlineage.secret_rules.values import MASK

_OBJECTS = (
    "TABLE|VIEW|MATERIALIZED|TEMP|TEMPORARY|EXTERNAL|USER|ROLE|SECRET|SERVER|DATABASE|SCHEMA|CATALOG|STREAM|FUNCTION|CONNECTION|CONNECTOR"
    "|STAGE|STORAGE|FOREIGN|SOURCE|SINK|TYPE|MODEL|LOGIN|SUBSCRIPTION|PERSISTENT|NOTIFICATION|INTEGRATION|NAMED|OR\\s+REPLACE|CREDENTIAL"
)
_LEADING = re.compile(r"\s*(?:(?:--[^\n]*\n|/\*.*?\*/)\s*){1,256}", re.DOTALL)
"""Comments before a statement: several per match, so that each is read once."""
_SQL = re.compile(
    r"\s*(?:\(\s*)?"
    rf"(?:SELECT\b|INSERT\s+(?:INTO|OVERWRITE)\b|UPDATE\s+\S+\s+SET\b|DELETE\s+FROM\b|MERGE\s+INTO\b|WITH\s+[\w\"`]+\s*(?:\(|AS\b)"
    rf"|(?:CREATE|ALTER|DROP)\s+(?:{_OBJECTS})\b|EXECUTE\s+(?:STATEMENT|IMMEDIATE)\b|BEGIN\s+(?:STATEMENT|TRANSACTION)\b"
    r"|COPY\s+(?:INTO\s+)?\S+\s+(?:FROM|TO|\()|UNLOAD\s*\(|REPLACE\s+INTO\b|EXPLAIN\s+\w|ATTACH\s+'|GRANT\s+\w)",
    re.IGNORECASE | re.DOTALL,
)
_LITERALS = re.compile(
    r"(?:(?:''|(?:(?<!\s)|(?<=[^\w.\s]\s))'[^'=:>]*(?:''[^'=:>]*)*')(?!')[^']*){1,256}"
    r"|'((?:[^']|'')*)'"
)
"""Several literals in a row that cannot contain a secret, or another literal. Only one that follows a name, or contains an assignment, can.
"""
_NAME_BACKWARDS = re.compile(r"[\w.]{0,100}[A-Za-z_]")
_COMPARING = "|".join(word[::-1] for word in ("WHERE", "AND", "OR", "ON", "HAVING", "WHEN", "NOT", "CASE"))
_COMPARED = re.compile(rf"[\"`]?(?:\.[\w`\"]{{1,100}}){{0,3}}[\s(]+(?:{_COMPARING})\b", re.IGNORECASE)
"""The text before a compared column, in reverse."""
_PASSWORD = re.compile(r"pass|pwd", re.IGNORECASE)
_CALL = re.compile(
    r"\b(?P<function>s3|s3cluster|gcs|oss|cosn|mysql|postgresql|remote|remotesecure|mongodb|materializedmysql|materializedpostgresql|hmac"
    r"|pgp_sym_(?:en|de)crypt(?:_bytea)?|aes_(?:en|de)crypt|(?:en|de)crypt|(?:en|de)cryptbypassphrase)\s*\(",
    re.IGNORECASE,
)
CONNECTIONS = re.compile(
    r"\b(?P<function>s3|s3cluster|mysql|postgresql|remotesecure|mongodb|materializedmysql|materializedpostgresql"
    r"|(?:(?<=from )|(?<=join )|(?<=function ))(?:remote|gcs|oss|cosn)|pgp_sym_(?:en|de)crypt(?:_bytea)?|(?:en|de)cryptbypassphrase)"
    r"\s*\((?:(?<=crypt\()|(?<=crypt_bytea\()|(?<=bypassphrase\()|(?=\s*'))",
    re.IGNORECASE,
)
"""Functions that take credentials and whose names, or the words before them, no programs share; they also count outside of statements."""
_ARGUMENT = re.compile(r"\s*(?:'(?P<text>(?:[^']|'')*)'|[^,'()]{1,300}(?:\([^()']{0,300}\))?)\s*(?P<end>[,)]?)")
_COMMENTS = re.compile(
    r"(?:(?:'[^']*(?:''[^']*)*'(?!')|--[^\n=:>]*(?=\n|\Z)|/\*[^*=:>]*\*/)[^'/\-]*){1,256}"
    r"|'(?:[^']|'')*'|(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))",
    re.DOTALL,
)
"""Several literals and comments in a row without an assignment, or another comment."""
INSERT = re.compile(r"\bINSERT\s+INTO\s+[^\s(]{1,300}\s*\((?P<columns>[^()']{1,4000})\)\s*VALUES\s*\(", re.IGNORECASE)
_NEXT_ROW = re.compile(r"\s*,\s*\(")
_SECRETS = {"s3": (1, 2), "s3cluster": (2, 3), "gcs": (1, 2), "oss": (1, 2), "cosn": (1, 2)}
"""The positions of keys among the arguments of ClickHouse's functions. For functions that encrypt, it is the second argument, or the first
if that is a phrase; for all others, the fifth is a password.
"""
_FORMAT = re.compile(
    r"(?:csv|tsv|json|parquet|orc|avro|native|arrow|raw|line|template|auto|nosign|protobuf|tabseparated)\w*\Z", re.IGNORECASE
)
_CIPHER = re.compile(r"aes-\d{3}-\w{3}\Z", re.IGNORECASE)
"""The first argument of ClickHouse's functions that encrypt; the key is the third."""
_BEFORE = 300
_RULES = Prefilter({"calls": rules([_CALL]), "inserts": rules([INSERT])})
WITH_LITERALS = (_CALL, INSERT)
"""Parts of a statement that have secrets in literals, besides assignments in literals and options before them."""


def is_sql(text: str) -> bool:
    """Whether a text is a statement: unquoted names in it are columns, not secrets."""
    at = 0
    while found := _LEADING.match(text, at):
        at = found.end()
    return bool(_SQL.match(text, at))


def mask_literals(text: str, names_secret: Callable[[str], bool], inside: Callable[[str], str], mask: Mask) -> str:
    """A statement with the secrets in its string literals masked. `inside` masks assignments in the text of a literal."""
    worth_trying = _RULES.worth_trying(text)
    if worth_trying["calls"]:
        text = mask_arguments(text, mask)
    if worth_trying["inserts"]:
        text = mask_inserted(text, names_secret, mask)

    def masked(found: re.Match[str]) -> str:
        literal = found[1]
        if not literal:
            return found[0]
        option = _name_before(text, found.start())
        if option and names_secret(option) and not _harmless(literal) and "=" not in literal.rstrip("="):
            return f"'{mask(literal)}'"
        return "'" + inside(literal) + "'"

    return _LITERALS.sub(masked, text)


def _name_before(text: str, end: int) -> str:
    """The name before this position, followed by a space; empty if there is none."""
    before = text[max(0, end - _BEFORE) : end]
    found = _NAME_BACKWARDS.match(before.rstrip()[::-1]) if before[-1:].isspace() else None
    return found[0][::-1] if found else ""


def is_comparison(text: str, start: int, name: str) -> bool:
    """Whether the name at `start` in a statement is a column that is compared with an ordinary value, not with a password."""
    return not _PASSWORD.search(name) and bool(_COMPARED.match(text[max(0, start - _BEFORE) : start][::-1]))


def is_quoted_comparison(text: str, start: int, name: str) -> bool:
    """As `is_comparison`, for a name in a statement that a message quotes."""
    return " where " in text[max(0, start - _BEFORE) : start].lower() and is_comparison(text, start, name)


def _harmless(literal: str) -> bool:
    return not literal.strip("* \t\n") or literal.startswith(MASK)


def mask_arguments(text: str, mask: Mask, calls: "re.Pattern[str]" = _CALL) -> str:
    """A statement with the credentials among its functions' arguments masked."""
    pieces: list[str] = []
    end = 0
    for call in calls.finditer(text):
        if call.start() < end:
            continue
        for start, stop in _credentials(text, call.end(), call["function"].lower()):
            pieces += (text[end:start], mask(text[start:stop]))
            end = stop
    return "".join((*pieces, text[end:]))


def _positions(function: str, count: int) -> tuple[int, ...]:
    if "crypt" in function or function == "hmac":
        return (0,) if function.endswith("bypassphrase") else (1,)
    if function.startswith("materialized"):
        return (3,)
    if function.startswith("remote") and count == 4:
        return (3,)
    return _SECRETS.get(function, (4,))


def _credentials(text: str, at: int, function: str) -> list[tuple[int, int]]:
    """The positions of the credentials among a function's arguments."""
    arguments: list[re.Match[str]] = []
    while len(arguments) < 8 and (argument := _ARGUMENT.match(text, at)) and argument.end() > at:
        arguments.append(argument)
        at = argument.end()
        if argument["end"] != ",":
            break
    positions = _positions(function, len(arguments))
    if arguments and _CIPHER.match(arguments[0]["text"] or ""):
        positions = (2,)
    if len(arguments) <= max(positions) or any(_FORMAT.match(arguments[index]["text"] or "x y") for index in positions):
        return []
    found = [arguments[index] for index in positions if arguments[index]["text"]]
    return [argument.span("text") for argument in found if not argument["text"].startswith(MASK)]


def mask_inserted(text: str, names_secret: Callable[[str], bool], mask: Mask) -> str:
    """A text with the passwords masked that its INSERT statements have in their rows."""
    for start, stop in reversed(_inserted(text, names_secret)):
        text = text[:start] + mask(text[start:stop]) + text[stop:]
    return text


def _inserted(text: str, names_secret: Callable[[str], bool]) -> list[tuple[int, int]]:
    """The positions of values in the rows of an INSERT whose columns contain secrets."""
    spans: list[tuple[int, int]] = []
    for insert in INSERT.finditer(text):
        columns = [bool(_PASSWORD.search(name)) and names_secret(name.strip(' `"[]\n')) for name in insert["columns"].split(",")]
        at, index = insert.end(), 0
        while True in columns and (value := _ARGUMENT.match(text, at)) and value.end() > at:
            if index < len(columns) and columns[index] and not _harmless(value["text"] or ""):
                spans.append(value.span("text"))
            at, index = value.end(), index + 1
            if value["end"] != ",":
                row = _NEXT_ROW.match(text, at)
                if row is None:
                    break
                at, index = row.end(), 0
    return spans


def mask_comments(text: str, inside: Callable[[str], str]) -> str:
    """A statement with the secrets in its comments masked; comments are sentences and settings, not SQL."""
    if "--" not in text and "/*" not in text:
        return text
    return _COMMENTS.sub(lambda found: inside(found[0]) if found["comment"] else found[0], text)
