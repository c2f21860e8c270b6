"""How secrets are recognised: by the name of a setting, and by their form inside a text."""

import re
from collections.abc import Iterator
from functools import lru_cache

from lineage_bridge.openlineage.prefilter import Prefilter, Texts, rules
from lineage_bridge.openlineage.required_text import fold
from lineage_bridge.openlineage.secret_rules.code import CALLED, DEFAULT, ENCODED, NAMED_VALUE, TYPED
from lineage_bridge.openlineage.secret_rules.commands import LISTED_OPTION, SET_BY_NAME
from lineage_bridge.openlineage.secret_rules.forms import FORMS, Mask, mask_form
from lineage_bridge.openlineage.secret_rules.names import SECRET_WORDS, WORKING_DIRECTORIES, is_weak, names_secret
from lineage_bridge.openlineage.secret_rules.prose import PROSE
from lineage_bridge.openlineage.secret_rules.sql import is_comparison, is_sql, mask_comments, mask_literals
from lineage_bridge.openlineage.secret_rules.values import MASK, begins_reference, is_expression, is_harmless, looks_up

_KEY_OF = rb"ss|nt|pi|on|re|er|te|et|ed|ng|ge|sh|pg|gp|sa|pp|se|ac|wt|ok|th|oy|ls|vt|dk|in"
# Every alternative starts with a character that is rare in events and looks back from there, which is five times as fast.
_SUSPECT = re.compile(
    rb"p(?:ass|s?wd|w[ :=]|ypi-|plx-|scale_|ul-[a-f0-9]{8}|at-[ne][au]\d-)|c(?:ret(?<=secret)|redential)|z(?<=authoriz)|j(?:aas|wt)"
    rb"|v(?<=nv)api-|y(?:2(?<=oy2)|j(?<=eyj))"
    rb"|k(?:en(?<=token)|ie(?<=cookie)|-(?:(?<=\Wsk-)|(?<=(?:nra|pma)k-))|_(?<=[sr]k_)(?:live|prod|test)|s?\.(?:slack|zapier|[a-z0-9]{1,10}\.make)|s/\d|b2/)"
    rb"|k(?:ennwort|init)"
    rb"|key(?:(?<=(?:%b)key)|(?<=(?:%b)[_.\- ]key)|-[0-9a-f]{32})|fo(?:(?<=userinfo)|(?<=user[_.\-]info))|fied(?<=identified)"
    rb"|b(?:earer|asic)\s|g(?:h[pousr]_|ithub_pat_|l(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent)-)|x(?:ox[a-z]-|app-|ai-[a-z0-9]{20}|keysib-|-(?<=gocspx-))"
    rb"|=(?:(?<=sig=)|(?<=signature=))|\\u00[2-7]|-(?:-user[ =]|(?<=[\s\"'(]-)[upawb])|-us(?<=[0-9a-f]{4}-us)\d"
    rb"|-(?:(?<=tskey-)|(?<=cfpat-)|(?<=(?:csp|atp)-))[a-z0-9_\-]{6}"
    rb"|_(?:(?<=(?:hf|r8|lb)_)|(?<=(?:npm|ntn|tfp|sgp|gsk|phc|fo1|glc|_v1|pat|_pt|sbp|pnu|pnb|nfp|aio|fm1|fm2)_)|(?<=(?:glsa|figd|lsv2)_)"
    rb"|(?<=(?:dbtc|dbtu|napi|bkua|rdme)_)|(?<=(?:po|el)_(?:live|test)_)|(?<=(?:whsec|shp[acps][ats]|sa_sk)_)"
    rb"|(?<=(?:sntrys|sntryu|ccipat)_)|(?<=lin_api_)|(?<=rubygems_))[a-z0-9_\-]{6}"
    rb"|\.(?:(?<=ya29\.)|(?<=\Wsg\.)|(?<=\Wsl\.)|(?<=hv[sbr]\.)|(?<=\.atlasv1\.)|(?<=dp\.pt\.)|(?<=dt0[a-z]\d\d\.)|(?<=pat[a-z0-9]{14}\.)|logon)"
    rb"|i(?<=dapi)[0-9a-f]{8}"
    rb"|\((?:(?<=s3\()|(?<=s3cluster\()|(?<=gcs\()|(?<=oss\()|(?<=mysql\()|(?<=postgresql\()|(?<=remote\()|(?<=remotesecure\()|(?<=mongodb\()"
    rb"|(?<=crypt\()|(?<=nnection\()|(?<=auth\()|(?<=auth=\()|(?<=fernet\())" % (_KEY_OF, _KEY_OF)
)
_UPPER = re.compile(
    rb"A(?:[KSB]IA[0-9A-Z]{16}|CCA[0-9A-Z]{16}|Iza|T[AC]TT3|BSK[A-Za-z0-9]{10}|KCp[A-Za-z0-9]{10}|KID[A-Za-z0-9]{20}|QVN[A-Za-z0-9]{10})|EAAC|EZ[AT]K"
    rb"|LTAI|~(?<=Q~)|SK[0-9a-f]{32}|:AA[A-Za-z0-9]"
)
_MARKS = (
    b"GOOG1E",
    b"HRKU-",
    b"FLWSECK",
    b"cflt",
    b"cmVmd",
    b"1//0",
    b":5432:",
    b'auth"',
    b'auth\\"',
    b"REDIS_AUTH",
    b"wachtwoord",
    b"ifttt.com/",
    b"contrasena",
)
"""Texts that are so rare that looking for each is the fastest."""
_ANY_MARK = re.compile(b"|".join(map(re.escape, _MARKS)))
_USER_INFO = re.compile(rb":\\?/\\?/[^\s\"/@]{0,300}@|:oracle:[^\s\"@]{0,300}@|[\w.\-]:[^\s\"/@:]{3,128}@|\w/[^\s\"/@:]{1,64}@")
_MASKED = re.compile(rb"(?<![\w.\-])[\w.\-]+=\*{8}(?:(?:[0-9a-f]{8}){1,2})?(?=[\"\s/])|\"[\w.\-]+\"\s*:\s*\"\*{8}\"")
_CACHED = 8192
_CACHED_BYTES = 2048
_CACHED_CHARACTERS = 512


def is_suspicious(piece: bytes) -> bool:
    """Whether a piece of JSON may contain a secret. Short pieces are cached, since producers repeat themselves."""
    return _is_suspicious_cached(piece) if len(piece) <= _CACHED_BYTES else _is_suspicious(piece)


def _is_suspicious(piece: bytes) -> bool:
    text = _MASKED.sub(b"", piece) if b"********" in piece else piece
    if b"@" in text and _USER_INFO.search(text):
        return True
    return bool(_SUSPECT.search(text.lower()) or _UPPER.search(text)) or any(mark in text for mark in _MARKS)


_is_suspicious_cached = lru_cache(_CACHED)(_is_suspicious)


def suspicious_places(raw: bytes) -> list[int]:
    """Where in a body something begins that may be a secret, or name one; sorted. Pieces without any are not suspicious."""
    return sorted(
        found.start()
        for pattern, text in (
            (_SUSPECT, raw.lower()),
            (_UPPER, raw),
            (_USER_INFO, raw if b"@" in raw else b""),
            (_ANY_MARK, raw if any(mark in raw for mark in _MARKS) else b""),
        )
        for found in pattern.finditer(text)
    )


# A name matches from its start only, and long parts match in one way only, so that the time stays linear.
_ASSIGNED = re.compile(r"""(?<![\w.\-])(?P<name>[\w.\-]{1,300})(?P<sign>[\\"'`\]]{0,8}[ \t]{0,8}(?:[=\-]>|:=|==?|:)[ \t]{0,8})""")
_NAME_BACKWARDS = re.compile(r"[\w.\-]*")
_LONGEST_NAME = 300
_INDENTED = re.compile(r"\s*(?:[>|][+\-]?[ \t]{0,8})?\r?\n[ \t]+(?![\w.\-]+:)")
_QUOTED = re.compile(
    r"""\s*[bBfFnNrRuU]{0,2}(?:(?P<escaped>\\+["'])(?P<a>.{0,65536}?)(?P=escaped)|''(?P<d>[^'\n]+)''"""
    r"""|"(?P<b>[^"\\]*(?:\\.[^"\\]*)*)"|'(?P<c>[^'\\]*(?:(?:\\.|'')[^'\\]*)*)')""",
    re.DOTALL,
)
_BRACED = re.compile(r"\{(?P<value>[^{}\s]+)\}(?=[;\s]|\Z)")
_BARE = re.compile(r"""(?P<value>[^\s;,&"'(){}\[\]<>\\]+)""")
_FUNCTION = re.compile(r"""(?P<function>[A-Za-z_][\w.]{0,200})[(\[]\s{0,4}(?:[bru]?(?P<quote>["'])(?P<value>[^"'\n]*)(?P=quote))?""")
_SEGMENT = re.compile(r"""(?P<value>[^\s;,&"'(){}\[\]<>\\/?]+)""")
_WHOLE = re.compile(r"\s*(?P<name>[\w.\-]{1,300})\s*=\s*(?P<value>.+)", re.DOTALL)
_BEFORE_A_WORD = re.compile(r"(?:secret|credential)s?[_\-](?!key|value|access|token|text|string)[a-z]{3,}\Z")
_FOLLOWED = re.compile(r"\n|\s[\w.\-]{1,300}\s?=")
"""What comes behind the one value of a setting."""
SIGNATURES = frozenset(("sig", "signature", "x-amz-signature", "x-goog-signature"))
_PARAMETER = re.compile(r"(?<=[?&;])(?P<name>[\w.\-]{1,300})=(?P<value>(?!\{)[^\s;&\"']+)")
_OPTION = re.compile(r"(?<![\w\-])(?P<name>--?[A-Za-z][\w.\-]{1,100})(?:\s+)(?P<value>'[^']*'|\"[^\"]*\"|[^\s\-'\"|&;][^\s'\"|;]*)")
_ELEMENT = re.compile(r"<(?P<name>[\w.:\-]{1,100})(?:\s[^<>]{0,300})?>(?P<value>[^<>]+)</")
_PROPERTY = re.compile(r"<name>\s*(?P<name>[\w.\-]{1,300})\s*</name>\s*<value>(?P<value>[^<>]+)</value>")
_CALL = re.compile(r"""\(\s*\\*["'](?P<name>[\w.\-]{1,300})\\*["']\s*,\s*(?P<quote>\\*["'])(?P<value>[^"'\\]+)(?P=quote)""")
_SETS = re.compile(
    r"(?:set|define|put|option|config|conf|property|env|header|add|param|parameter|credential|secret)\w{0,12}\s?\Z", re.IGNORECASE
)


_NAMED = (_OPTION, _ELEMENT, _PROPERTY, SET_BY_NAME, LISTED_OPTION, CALLED, TYPED, NAMED_VALUE, DEFAULT, ENCODED)
_NAMES = SECRET_WORDS | SIGNATURES | {fold(name) for name in WORKING_DIRECTORIES}
"""Texts of which one is in each name that a secret can be assigned to."""
_NAME_PARTS = Texts(_NAMES)
_RULES = Prefilter(
    {
        "forms": rules(FORMS),
        "named": rules(_NAMED, SECRET_WORDS),
        "calls": rules([_CALL], SECRET_WORDS),
        "parameters": rules([_PARAMETER], SECRET_WORDS | SIGNATURES),
        "assigned": rules([_ASSIGNED], _NAMES),
        "prose": rules(PROSE),
    }
)


def mask_text(text: str) -> str:
    """The text with the secrets in it masked; equal to `text` if there are none. Short texts are cached: producers repeat themselves."""
    return _mask_text_cached(text) if len(text) <= _CACHED_CHARACTERS else _mask_text(text)


def _mask_text(text: str) -> str:
    return mask_with(text, lambda _: MASK)


_mask_text_cached = lru_cache(_CACHED)(_mask_text)


def mask_with(text: str, mask: Mask) -> str:
    """The text with the secrets in it replaced."""
    worth_trying = _RULES.worth_trying(text)
    for pattern in worth_trying["forms"]:
        text = mask_form(pattern, text, mask)
    sql = is_sql(text)
    whole = _WHOLE.fullmatch(text)
    if whole and names_secret(whole["name"]) and not sql and not _FOLLOWED.search(whole["value"]) and not _is_code(whole):
        return _replaced(whole, mask)
    if sql:
        text = mask_literals(text, names_secret, lambda literal: _masked_assignments(literal, mask, sql=False), mask)
        text = mask_comments(text, lambda comment: _masked_assignments(comment, mask, sql=False))
    for pattern in worth_trying["named"]:
        text = pattern.sub(
            lambda found: _replaced(found, mask) if names_secret(found["name"].strip("-").rpartition(":")[2]) else found[0], text
        )
    for pattern in worth_trying["calls"]:
        text = pattern.sub(lambda found: _masked_call(found, mask), text)
    for pattern in worth_trying["parameters"]:
        text = pattern.sub(
            lambda found: _replaced(found, mask) if names_secret(found["name"]) or found["name"].lower() in SIGNATURES else found[0], text
        )
    if worth_trying["assigned"]:
        text = _masked_assignments(text, mask, sql=sql)
    for pattern in worth_trying["prose"]:
        text = mask_form(pattern, text, mask)
    return text


def _is_code(whole: re.Match[str]) -> bool:
    """Whether the value is an expression, or a command follows an environment variable."""
    if whole["name"].isupper() and re.search(r"\s", whole["value"]):
        return True
    return is_expression(whole["name"], whole["value"].rstrip(";")) or bool(_FUNCTION.match(whole["value"]))


def _masked_call(found: re.Match[str], mask: Mask) -> str:
    before = found.string[max(0, found.start() - 40) : found.start()]
    return _replaced(found, mask) if names_secret(found["name"]) and _SETS.search(before) else found[0]


def _masked_assignments(text: str, mask: Mask, *, sql: bool) -> str:
    """`name = value` and `name: value` with the value masked where the name names a secret."""
    if not any(sign in text for sign in "=:>"):
        return text
    pieces: list[str] = []
    end = at = 0
    for name in _name_starts(text):
        found = _ASSIGNED.match(text, name) if name >= at else None
        if found is None:
            continue
        at = found.end()
        value = _value_at(text, found, sql=sql) if _assigns_secret(found, text) else None
        if value is None:
            continue
        start, stop = value
        pieces += (text[end:start], mask(text[start:stop]))
        end = at = stop
    return "".join((*pieces, text[end:]))


def _name_starts(text: str) -> Iterator[int]:
    """Where names begin in a text that may be those of secrets; in their order, but some more than once."""
    for inside in _NAME_PARTS.starts(fold(text)):
        before = _NAME_BACKWARDS.match(text[max(0, inside - _LONGEST_NAME) : inside][::-1])
        yield inside - before.end() if before else inside


def _assigns_secret(found: re.Match[str], text: str) -> bool:
    name = found["name"]
    if found["sign"] == ":" and text[found.start() - 1 : found.start()] == ":":
        return False  # `arn:aws:secretsmanager:...:secret:name`
    if found["sign"] == ":" and _BEFORE_A_WORD.search(name):
        return False  # `secret_santa:orders`
    if name in WORKING_DIRECTORIES and "=" in found["sign"]:
        return not text[found.end() :].lstrip("{\"'").startswith(("/", "~", ".", "$", "C:", "\\"))
    return names_secret(name) or ("=" in found["sign"] and name.lower() in SIGNATURES)


def _value_at(text: str, found: re.Match[str], *, sql: bool) -> tuple[int, int] | None:
    """Where the value of an assignment is; None if it has none that could be a secret."""
    at = found.end()
    if sql and is_comparison(text, found.start(), found["name"]):
        return None
    quoted = _QUOTED.match(text, at)
    if quoted:
        group = next((key for key in "abcd" if quoted[key]), None)
        return None if group is None or is_harmless(quoted[group]) else quoted.span(group)
    if sql:
        return None
    if indented := _INDENTED.match(text, at):
        at = indented.end()
    return None if begins_reference(text[at : at + 100]) else _bare_value(text, at, found)


def _bare_value(text: str, at: int, found: re.Match[str]) -> tuple[int, int] | None:
    """Where a value without quotes is, or the text that a function is called with."""
    if (call := _FUNCTION.match(text, at)) is not None:
        return None if looks_up(call["function"]) or not call["value"] or is_harmless(call["value"]) else call.span("value")
    # In a path (`events/token=abc/x`) the value ends with its segment.
    segment = found.start() > 0 and text[found.start() - 1] == "/" and "=" in found["sign"]
    bare = _BRACED.match(text, at) or (_SEGMENT if segment else _BARE).match(text, at)
    if bare is None or is_harmless(bare["value"]) or is_expression(found["name"], bare["value"]):
        return None
    if (is_weak(found["name"]) and bare["value"].isdigit()) or (
        segment and bare["value"].isalpha() and "pass" not in found["name"].lower()
    ):
        return None
    is_word = bare["value"].rstrip(".").isalpha() and ":" in found["sign"]
    behind = text[bare.end() : bare.end() + 100].lstrip(" \t") if text[bare.end() : bare.end() + 1] in " \t" else ""
    if is_word and (behind[:1].isalnum() or begins_reference(behind.split('"')[0])):
        return None
    return bare.span("value")


def _replaced(found: re.Match[str], mask: Mask) -> str:
    """A match with its `value` masked. Quotes around the value stay."""
    start, stop = (place - found.start() for place in found.span("value"))
    value = found["value"]
    if value[:1] in "\"'" and value[-1:] == value[:1] and len(value) > 1:
        start, stop, value = start + 1, stop - 1, value[1:-1]
    if not value or is_harmless(value):
        return found[0]
    return found[0][:start] + mask(value) + found[0][stop:]
