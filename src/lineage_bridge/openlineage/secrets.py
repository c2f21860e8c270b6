"""How secrets are recognised: by the name of a setting, and by their form inside a text."""

import re
from functools import lru_cache

MASK = "********"
"""The text that replaces a secret."""

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
    r"password(?!less)|passwd|passphrase|pwd\.|[^.]\.pass\.$|secrets?\.|credentials?\.|authorization\.$|cookie\.$"
    r"|(?:access|account|api|encryption|keystore|master|private|pvt|secret|shared|signing|sse\.customer|storage)\.?key\."
    r"|(?<!continuation\.)(?<!cursor\.)(?<!next\.)(?<!page\.)(?<!sync\.)token\.$"
    r"|jaas\.?config\.|auth\.?user\.?info\."
)
_WORKING_DIRECTORIES = frozenset(("PWD", "OLDPWD"))

_KEY_OF = rb"ss|nt|pi|on|re|er|te|et|ed|ng|ge|vt"
# Every alternative starts with a character that is rare in events and looks back from there, which is five times as fast.
_SUSPECT = re.compile(
    rb"p(?:ass|wd)|c(?:ret(?<=secret)|redential)|k(?:en(?<=token)|ie(?<=cookie))|z(?<=authoriz)|jaas"
    rb"|key(?:(?<=(?:%b)key)|(?<=(?:%b)[_.\- ]key))|fo(?:(?<=userinfo)|(?<=user[_.\-]info))|fied(?<=identified)"
    rb"|b(?:earer|asic)\s|g(?:h[pousr]_|ithub_pat_|lpat-)|xox[a-z]-|yj(?<=eyj)|=(?:(?<=sig=)|(?<=signature=))|\\u00[2-7]"
    % (_KEY_OF, _KEY_OF)
)
_ACCESS_KEY = re.compile(rb"A[KS]IA[0-9A-Z]{16}")
_USER_INFO = re.compile(rb":\\?/\\?/[^\s\"/@]{0,300}@|:oracle:[^\s\"@]{0,300}@")
_MASKED = re.compile(rb"(?<![\w.\-])[\w.\-]+=\*{8}(?=[\"\s])|\"[\w.\-]+\"\s*:\s*\"\*{8}\"")
_SQL = re.compile(
    r"\s*(?:(?:--[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)\s*)*(?:\(\s*)?"
    r"(?:SELECT|INSERT|UPDATE|DELETE|MERGE|WITH|CREATE|ALTER|DROP|EXECUTE|BEGIN|SET|USE|COPY|REPLACE|EXPLAIN)\b",
    re.IGNORECASE | re.DOTALL,
)
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
    return bool(_SUSPECT.search(text.lower()) or _ACCESS_KEY.search(text))


_is_suspicious_cached = lru_cache(_CACHED)(_is_suspicious)


# A name matches from its start only, and long parts match in one way only, so that the time stays linear.
_NAME = r"(?P<name>(?<![\w.\-])[\w.\-]{1,300})"
_QUOTED = (
    r"""(?:(?P<escaped>\\+["'])(?P<a>.{0,65536}?)(?P=escaped)"""
    r"""|"(?P<b>[^"\\]*(?:\\.[^"\\]*)*)"|'(?P<c>[^'\\]*(?:(?:\\.|'')[^'\\]*)*)')"""
)
_NAMED_QUOTED = re.compile(_NAME + r"""(?P<sign>[\\"'`\]]*\s*(?:=>|[=:])\s*)""" + _QUOTED, re.DOTALL)
_NAMED_BARE = re.compile(_NAME + r"""(?P<sign>[\\"']*(?:=|:\s*))(?P<d>[^\s;,&"'(){}\[\]<>\\]+)""")
_PARAMETER = re.compile(r"""(?P<name>(?<=[?&;])[\w.\-]{1,300})(?P<sign>=)(?P<d>[^\s;&"']+)""")
_WHOLE = re.compile(r"\s*(?P<name>[\w.\-]{1,300})(?P<sign>\s*=\s*)(?P<d>.+)", re.DOTALL)
_SIGNATURES = frozenset(("sig", "signature", "x-amz-signature", "x-goog-signature"))

_USER = r"((?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{0,40}:\\?/\\?/[^\s/?#\"'@:]*:)"
_LITERAL = r"(?:'(?:[^']|'')*'|\"[^\"]*\")"
_SHAPES = (
    (re.compile(r"-----BEGIN ([A-Z ]*)PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), MASK),
    (re.compile(r"(?i:(authorization[\\\"']*\s*[:=]\s*[\\\"']*))[^\"'\\\r\n]+"), rf"\1{MASK}"),
    (re.compile(r"(?<![0-9A-Za-z])A[KS]IA[0-9A-Z]{16}(?:[\s:,/\"'=]{1,3}[A-Za-z0-9/+=]{40})?(?![0-9A-Za-z])"), MASK),
    (re.compile(_USER + r"[^\s/?#\"']+@"), rf"\1{MASK}@"),
    (re.compile(r"(jdbc:oracle:\w+:[^/\s@:]+/)[^\s\"']{1,300}@"), rf"\1{MASK}@"),
    (re.compile(r"\b(?i:(bearer\s+))(?=[^\s\"']*[\d._=+/\-])[A-Za-z0-9._~+/=\-]{8,}"), rf"\1{MASK}"),
    (re.compile(r"\b(?i:(basic\s+))(?=[A-Za-z0-9+/]*(?:[\d=+/]|[a-z][A-Z]))[A-Za-z0-9+/]{6,}={0,2}"), rf"\1{MASK}"),
    (re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w\-]{16,}|xox[a-z]-[\w\-]{8,})"), MASK),
    (re.compile(r"(?<![\w\-])eyJ[\w\-]{5,}\.[\w\-]{4,}\.[\w\-]*"), MASK),
    (
        re.compile(
            rf"(?i:(\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?))(?:{_LITERAL}|[^\s;,'\"*]+)",
            re.DOTALL,
        ),
        rf"\1'{MASK}'",
    ),
    (re.compile(rf"(?i:(\bpassword\s+)){_LITERAL}", re.DOTALL), rf"\1'{MASK}'"),
)
"""Secrets recognised by their own form or by the words before them, with their replacement."""


def mask_text(text: str) -> str:
    """The text with the secrets in it masked; equal to `text` if there are none."""
    for pattern, replacement in _SHAPES:
        text = pattern.sub(replacement, text)
    whole = _WHOLE.fullmatch(text)
    if whole and names_secret(whole["name"]):
        return _masked_value(whole)
    text = _NAMED_QUOTED.sub(_masked_value, text)
    text = _PARAMETER.sub(_masked_value, text)
    return text if _SQL.match(text) else _NAMED_BARE.sub(_masked_bare, text)


def _masked_bare(match: re.Match[str]) -> str:
    """As `_masked_value`; the value of a harmless name may itself be a name with a value (`failed: password=...`)."""
    masked = _masked_value(match)
    if masked == match[0] and "=" in match["d"]:
        return match[0][: match.start("d") - match.start()] + _NAMED_BARE.sub(_masked_value, match["d"])
    return masked


def _masked_value(match: re.Match[str]) -> str:
    """`name = value` with the value masked, if the name names a secret. Quotes around the value stay."""
    name = match["name"].lower()
    if not names_secret(match["name"]) and name not in _SIGNATURES and not (match.re is _PARAMETER and name == "pwd"):
        return match[0]
    group = next((key for key in "abcd" if match.groupdict().get(key)), None)
    if group is None:
        return match[0]
    start = match.start()
    return match[0][: match.start(group) - start] + MASK + match[0][match.end(group) - start :]
