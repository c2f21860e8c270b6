"""How secrets are recognised: by the name of a setting, and by their form inside a text."""

import re
from functools import lru_cache

from lineage_bridge.openlineage.secret_forms import FORMS, MASK, Mask, mask_form
from lineage_bridge.openlineage.sql_secrets import is_comparison, is_sql, mask_literals

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DESCRIBES = frozenset(
    (
        "algorithm",
        "arn",
        "at",
        "budget",
        "class",
        "column",
        "columns",
        "count",
        "counts",
        "date",
        "description",
        "disabled",
        "enable",
        "enabled",
        "endpoint",
        "expiration",
        "expire",
        "expires",
        "expiry",
        "field",
        "fields",
        "file",
        "format",
        "handler",
        "hint",
        "id",
        "ids",
        "interval",
        "kind",
        "len",
        "length",
        "limit",
        "location",
        "manager",
        "max",
        "min",
        "mode",
        "ms",
        "name",
        "names",
        "path",
        "policy",
        "provider",
        "providers",
        "ref",
        "required",
        "rotation",
        "scope",
        "scopes",
        "seconds",
        "size",
        "source",
        "strategy",
        "time",
        "timeout",
        "ttl",
        "type",
        "uri",
        "url",
        "usage",
        "validator",
        "version",
    )
)
_SECRET_NAME = re.compile(
    r"password(?!less)|passwd|passphrase|passcode|passkey|pswd|pwd\.|(?<!by)(?<!com)(?<!over)(?<!sur)(?<!tres)(?<!under)pass\.$|jwt\.$"
    r"|secrets?\.|credentials?\.|authorization\.$|cookie\.$"
    r"|(?:access|account|api|app|application|auth|cipher|deploy|encryption|fernet|gpg|hmac|jwt|keystore|license|master|pgp|private|pvt|rsa|secret"
    r"|session|shared|signing|sse\.customer|ssh|storage|subscription|tls|webhook)\.?key\."
    r"|(?<!continuation\.)(?<!cursor\.)(?<!next\.)(?<!page\.)(?<!sync\.)token\.$"
    r"|jaas\.?config\.|auth\.?user\.?info\."
)
_WEAK = frozenset(("pass", "jwt"))
"""Names that also count things: a number under them is no secret."""
_WORKING_DIRECTORIES = frozenset(("PWD", "OLDPWD"))

_KEY_OF = rb"ss|nt|pi|on|re|er|te|et|ed|ng|ge|sh|pg|gp|sa|pp|se|ac|wt|ok|th|oy|ls|vt"
# Every alternative starts with a character that is rare in events and looks back from there, which is five times as fast.
_SUSPECT = re.compile(
    rb"p(?:ass|s?wd|ypi-|plx-|scale_)|c(?:ret(?<=secret)|redential)|z(?<=authoriz)|j(?:aas|wt)|v(?<=nv)api-|y(?:2(?<=oy2)|j(?<=eyj))"
    rb"|k(?:en(?<=token)|ie(?<=cookie)|-(?:(?<=\Wsk-)|(?<=(?:nra|pma)k-))|_(?<=[sr]k_)[lpt]|\.com/[stw](?<=slack\.com/.)|s/\d|b2/)"
    rb"|key(?:(?<=(?:%b)key)|(?<=(?:%b)[_.\- ]key)|-[0-9a-f]{32})|fo(?:(?<=userinfo)|(?<=user[_.\-]info))|fied(?<=identified)"
    rb"|b(?:earer|asic)\s|g(?:h[pousr]_|ithub_pat_|l(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent)-)|x(?:ox[a-z]-|app-|keysib-|-(?<=gocspx-))"
    rb"|=(?:(?<=sig=)|(?<=signature=))|\\u00[2-7]|-(?:u[ =]|-user[ =])|-us(?<=[0-9a-f]{4}-us)\d"
    rb"|_(?:(?<=(?:hf|r8)_)|(?<=(?:npm|ntn|tfp|sgp|gsk|phc|fo1|glc|_v1|pat|_pt)_)|(?<=(?:glsa|figd|lsv2)_)|(?<=(?:whsec|shp[acps][ats])_)"
    rb"|(?<=(?:sntrys|sntryu|ccipat)_)|(?<=lin_api_)|(?<=rubygems_))[a-z0-9]{6}"
    rb"|\.(?:(?<=ya29\.)|(?<=\Wsg\.)|(?<=hv[sbr]\.)|(?<=\.atlasv1\.)|(?<=dp\.pt\.)|(?<=dt0[a-z]\d\d\.))|i(?<=dapi)[0-9a-f]{8}"
    rb"|\((?:(?<=s3\()|(?<=s3cluster\()|(?<=gcs\()|(?<=oss\()|(?<=mysql\()|(?<=postgresql\()|(?<=remote\()|(?<=remotesecure\()|(?<=mongodb\())"
    % (_KEY_OF, _KEY_OF)
)
_UPPER = re.compile(rb"A(?:[KSB]IA[0-9A-Z]{16}|CCA[0-9A-Z]{16}|Iza|T[AC]TT3)|EAAC|LTAI|~(?<=Q~)|SK[0-9a-f]{32}|:AA[A-Za-z0-9]")
_USER_INFO = re.compile(rb":\\?/\\?/[^\s\"/@]{0,300}@|:oracle:[^\s\"@]{0,300}@|[\w.\-]:[^\s\"/@:]{3,128}@|\w/[^\s\"/@:]{1,64}@")
_MASKED = re.compile(rb"(?<![\w.\-])[\w.\-]+=\*{8}(?:[0-9a-f]{8})?(?=[\"\s/])|\"[\w.\-]+\"\s*:\s*\"\*{8}\"")
_LONGEST_NAME = 300
_CACHED = 8192
_CACHED_BYTES = 2048


def names_secret(name: str) -> bool:
    """Whether a setting, member or variable of this name contains a secret."""
    return len(name) <= _LONGEST_NAME and _names_secret(name)


@lru_cache(_CACHED)
def _names_secret(name: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[-1] in _DESCRIBES or name in _WORKING_DIRECTORIES:
        return False
    return bool(_SECRET_NAME.search("." + ".".join(words) + "."))


def is_suspicious(piece: bytes) -> bool:
    """Whether a piece of JSON may contain a secret. Short pieces are cached, since producers repeat themselves."""
    return _is_suspicious_cached(piece) if len(piece) <= _CACHED_BYTES else _is_suspicious(piece)


def _is_suspicious(piece: bytes) -> bool:
    text = _MASKED.sub(b"", piece) if b"********" in piece else piece
    if b"@" in text and _USER_INFO.search(text):
        return True
    return bool(_SUSPECT.search(text.lower()) or _UPPER.search(text))


_is_suspicious_cached = lru_cache(_CACHED)(_is_suspicious)


def suspicious_places(raw: bytes) -> list[int]:
    """Where in a body something begins that may be a secret, or name one; sorted. Pieces without any are not suspicious."""
    return sorted(
        found.start()
        for pattern, text in ((_SUSPECT, raw.lower()), (_UPPER, raw), (_USER_INFO, raw if b"@" in raw else b""))
        for found in pattern.finditer(text)
    )


def is_weak(name: str) -> bool:
    """Whether only a text under this name is a secret, not a number."""
    return name.lower() in _WEAK


# A name matches from its start only, and long parts match in one way only, so that the time stays linear.
_ASSIGNED = re.compile(r"""(?<![\w.\-])(?P<name>[\w.\-]{1,300})(?P<sign>[\\"'`\]]{0,8}[ \t]{0,8}(?:=>|:=|==?|:)[ \t]{0,8})""")
_INDENTED = re.compile(r"\s*\r?\n[ \t]+(?![\w.\-]+:)")
_QUOTED = re.compile(
    r"""\s*(?:(?P<escaped>\\+["'])(?P<a>.{0,65536}?)(?P=escaped)"""
    r"""|"(?P<b>[^"\\]*(?:\\.[^"\\]*)*)"|'(?P<c>[^'\\]*(?:(?:\\.|'')[^'\\]*)*)')""",
    re.DOTALL,
)
_BRACED = re.compile(r"\{(?P<value>[^{}\s]+)\}")
_BARE = re.compile(r"""(?P<value>[^\s;,&"'(){}\[\]<>\\]+)""")
_SEGMENT = re.compile(r"""(?P<value>[^\s;,&"'(){}\[\]<>\\/?]+)""")
_WHOLE = re.compile(r"\s*(?P<name>[\w.\-]{1,300})\s*=\s*(?P<value>.+)", re.DOTALL)
SIGNATURES = frozenset(("sig", "signature", "x-amz-signature", "x-goog-signature"))
_PARAMETER = re.compile(r"(?<=[?&;])(?P<name>[\w.\-]{1,300})=(?P<value>[^\s;&\"']+)")
_NO_VALUE = re.compile(
    r"(?:str|string|secretstr|text|varchar|char|int|bytes|none|null|nil|true|false|yes|no|required|optional|undefined|[\W_]+)\Z",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"\$\{|\$\(|\{\{|\$[A-Za-z_]\w*\Z|%[A-Za-z_]+%|<[\w \-]+>\Z")
_OPTION = re.compile(r"(?<![\w\-])(?P<name>--?[A-Za-z][\w.\-]{1,100})(?:\s+)(?P<value>'[^']*'|\"[^\"]*\"|[^\s\-'\"|&;][^\s'\"|;]*)")
_ELEMENT = re.compile(r"<(?P<name>[\w.:\-]{1,100})(?:\s[^<>]{0,300})?>(?P<value>[^<>]+)</")
_PROPERTY = re.compile(r"<name>\s*(?P<name>[\w.\-]{1,300})\s*</name>\s*<value>(?P<value>[^<>]+)</value>")
_CALL = re.compile(r"""\(\s*\\*["'](?P<name>[\w.\-]{1,300})\\*["']\s*,\s*(?P<quote>\\*["'])(?P<value>[^"'\\]+)(?P=quote)""")
_SETS = re.compile(r"(?:set|put|option|config|conf|property|env|header|add|param|parameter|credential|secret)\w{0,12}\s?\Z", re.IGNORECASE)


def mask_text(text: str) -> str:
    """The text with the secrets in it masked; equal to `text` if there are none."""
    return mask_with(text, lambda _: MASK)


def mask_with(text: str, mask: Mask) -> str:
    """The text with the secrets in it replaced."""
    for pattern in FORMS:
        text = mask_form(pattern, text, mask)
    whole = _WHOLE.fullmatch(text)
    if whole and names_secret(whole["name"]) and not is_sql(text):
        return _replaced(whole, mask)
    sql = is_sql(text)
    if sql:
        text = mask_literals(text, names_secret, lambda literal: _masked_assignments(literal, mask, sql=False), mask)
    for pattern in (_OPTION, _ELEMENT, _PROPERTY):
        text = pattern.sub(
            lambda found: _replaced(found, mask) if names_secret(found["name"].strip("-").rpartition(":")[2]) else found[0], text
        )
    text = _CALL.sub(lambda found: _masked_call(found, mask), text)
    text = _PARAMETER.sub(
        lambda found: _replaced(found, mask) if names_secret(found["name"]) or found["name"].lower() in SIGNATURES else found[0], text
    )
    return _masked_assignments(text, mask, sql=sql)


def _masked_call(found: re.Match[str], mask: Mask) -> str:
    before = found.string[max(0, found.start() - 40) : found.start()]
    return _replaced(found, mask) if names_secret(found["name"]) and _SETS.search(before) else found[0]


def _masked_assignments(text: str, mask: Mask, *, sql: bool) -> str:
    """`name = value` and `name: value` with the value masked where the name names a secret."""
    pieces: list[str] = []
    end = at = 0
    while found := _ASSIGNED.search(text, at):
        at = found.end()
        if not _assigns_secret(found, text):
            continue
        value = _value_at(text, found, sql=sql)
        if value is None:
            continue
        start, stop = value
        pieces += (text[end:start], mask(text[start:stop]))
        end = at = stop
    return "".join((*pieces, text[end:]))


def _assigns_secret(found: re.Match[str], text: str) -> bool:
    name = found["name"]
    if name in _WORKING_DIRECTORIES and "=" in found["sign"]:
        return not text[found.end() :].lstrip("{\"'").startswith(("/", "~", ".", "$", "C:", "\\"))
    return names_secret(name) or ("=" in found["sign"] and name.lower() in SIGNATURES)


def _value_at(text: str, found: re.Match[str], *, sql: bool) -> tuple[int, int] | None:
    """Where the value of an assignment is; None if it has none that could be a secret."""
    at = found.end()
    if sql and is_comparison(text, found.start(), found["name"]):
        return None
    quoted = _QUOTED.match(text, at)
    if quoted:
        group = next((key for key in "abc" if quoted[key]), None)
        return None if group is None or _is_harmless(quoted[group]) else quoted.span(group)
    if sql:
        return None
    if indented := _INDENTED.match(text, at):
        at = indented.end()
    # In a path (`events/token=abc/x`) the value ends with its segment.
    segment = found.start() > 0 and text[found.start() - 1] == "/" and "=" in found["sign"]
    bare = _BRACED.match(text, at) or (_SEGMENT if segment else _BARE).match(text, at)
    if bare is None or _is_harmless(bare["value"]) or _REFERENCE.match(text, at):
        return None
    is_word = bare["value"].rstrip(".").isalpha() and ":" in found["sign"]
    if is_word and text[bare.end() : bare.end() + 2].strip(" \t")[:1].isalnum():
        return None
    return bare.span("value")


def _is_harmless(value: str) -> bool:
    return value.startswith(MASK) or bool(_NO_VALUE.match(value) or _REFERENCE.match(value))


def _replaced(found: re.Match[str], mask: Mask) -> str:
    """A match with its `value` masked. Quotes around the value stay."""
    start, stop = (place - found.start() for place in found.span("value"))
    value = found["value"]
    if value[:1] in "\"'" and value[-1:] == value[:1] and len(value) > 1:
        start, stop, value = start + 1, stop - 1, value[1:-1]
    if not value or _is_harmless(value):
        return found[0]
    return found[0][:start] + mask(value) + found[0][stop:]
