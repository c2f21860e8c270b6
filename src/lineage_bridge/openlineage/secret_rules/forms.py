"""Secrets that are recognised by their own format, or by the words around them.

The formats of tokens are those that their issuers document, and that secret scanners (gitleaks, detect-secrets) look for.
"""

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

from lineage_bridge.openlineage.prefilter import SHORT, Rule
from lineage_bridge.openlineage.required_text import Uncompiled
from lineage_bridge.openlineage.secret_rules.code import CODE
from lineage_bridge.openlineage.secret_rules.commands import COMMANDS
from lineage_bridge.openlineage.secret_rules.statements import STATEMENTS
from lineage_bridge.openlineage.secret_rules.tokens import HASHES, SECOND_PARTS, TOKENS, WEBHOOKS
from lineage_bridge.openlineage.secret_rules.values import MASK, is_reference

Mask: TypeAlias = Callable[[str], str]
"""A function that returns what replaces a secret."""

_USER = r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{0,40}:\\?/\\?/[^\s/?#\"'@:]{0,300}:"
_LITERAL = r"(?:'(?P<secret>(?:[^']|'')*)'|\"(?P<secret2>[^\"]*)\")"
_UNQUOTED = r"(?!(?:\?|:\w{1,60})(?:[\s;,)\"']|\Z))(?P<secret3>[^\s;,'\"*]+)"
"""No parameter of a prepared statement."""
_PART_OF_NAME = (
    r"(?<=_)(?=[\w.\-]{24})(?=[^\d\s]{0,40}\d)(?:(?=[^A-Z\s]{0,40}[A-Z])|(?=dapi|do[oprt]_v1_|shp[a-z]{2}_|pul-|sbp_|rubygems_|tfp_))"
)
"""The last part of a name, as in `load_ghp_x`: long and with digits and capital letters, as hashes are not; or only of one issuer's."""
_BEGINS = rf"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt])|{_PART_OF_NAME})"
"""A word begins here, or behind the escape of a line break or tab in code."""
_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_CODE = r"(?!(?:\w{1,40}\.){1,4}(?:(?:password|passwd|pwd)|\w{1,40}\(\))(?:;|\Z))"
_RANDOM = r"(?=[^\s@/:]*\d)(?=[^\s@/:]*[A-Za-z])[A-Za-z0-9_.\-~]{12,300}"
_SCHEMES = (
    "basic|bearer|digest|token|negotiate|ntlm|hmac|aws4-hmac-sha256|api-?key|ssws|apitoken|genie-?key"
    "|splunk|key|sharedkey|sharedkeylite|signature|oauth|jwt"
)
FORMS = (
    Uncompiled(
        r"-{4,5} ?BEGIN (?:[A-Za-z0-9 ]{0,30})(?:PRIVATE KEY(?: BLOCK)?|Static key V1) ?-{4,5}(?P<secret>.*?)"
        r"(?:-{4,5} ?END [A-Za-z0-9 ]{0,30}(?:PRIVATE KEY(?: BLOCK)?|Static key V1) ?-{4,5}|\Z)",
        re.DOTALL,
    ),
    Uncompiled(r"Private-MAC: (?P<secret>[0-9a-f]{40,})"),
    Uncompiled(r"(?m)^[ \t]{1,40}auth:[ \t]{1,8}[\"']?(?P<secret>(?=[A-Za-z+/]{0,60}\d)[A-Za-z0-9+/]{24,}={0,2})[\"']?[ \t]{0,8}$"),
    Uncompiled(r"Private-Lines: \d+(?P<secret>(?:\s+[A-Za-z0-9+/=]{20,})+)"),
    Uncompiled(r"\b(?i:token\s+token)\s{0,2}=\s{0,2}\\{0,2}\"(?P<secret>[^\"\\\n]{4,4000})"),
    Uncompiled(r"<RSAKeyValue>.{0,2000}?<D>(?P<secret>[A-Za-z0-9+/=\s]{16,2000})</D>", re.DOTALL),
    Uncompiled(r"\b(?i:digest)\s[^\r\n]{0,300}?\bresponse=\\{0,2}\"(?P<secret>[^\"\\]+)"),
    Uncompiled(
        r"(?i:authorization[\\\"']{0,4}\s{0,4}[:=]\s{0,4}[\\\"']{0,4})"
        rf"(?P<secret>(?i:{_SCHEMES})\s+(?![{{$<%`]|YOUR|base64\()[^\"'\\\r\n]+|(?=[^\s\"']{{0,300}}\d)[^\s\"'\\]{{12,}})"
    ),
    Uncompiled(
        r"(?:(?<![0-9A-Za-z])|(?<=\\[nrt]))(?P<secret>A(?:KIA|SIA|BIA|CCA)[0-9A-Z]{16}"
        r"(?:[\s:,/\"'=]{1,5}(?:(?:secret|sk|secret key)\s)?[A-Za-z0-9/+=]{40}|:[A-Za-z0-9/+]{27}=)?)(?![0-9A-Za-z])"
    ),
    Uncompiled(r"\bhttps?://(?P<secret>[0-9a-f]{32}:[0-9a-f]{32})@"),
    Uncompiled(
        _USER
        + r"(?P<secret>(?!(?<=://user:)password@|(?<=://username:)password@|(?<=://USER:)PASSWORD@|(?<=://USERNAME:)PASSWORD@)[^\s/?#\"']{1,300})@"
    ),
    Uncompiled(
        r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{0,40}://[^\s/?#\"'@:]{1,100}@[^\s/?#\"'@:]{1,200}:(?P<secret>[^\s/?#\"'@]{1,300})@"
    ),
    Uncompiled(r"(?<![\w/.@:\-])\w{1,64}/(?P<secret>[^\s/@\"'*]{1,128})@(?://)?[\w.\-]{1,253}:\d{2,5}/\w"),
    Uncompiled(
        r"(?i);\s?(?:password|pwd)\s?=\s?(?:\{(?![\w.]{0,40}(?:pass|pwd|pw|secret|token|cred|key)[\w.]{0,40}\}|\w{0,3}\})(?P<secret>[^{}\n]{1,200})\}|"
        rf"{_CODE}(?P<secret2>[^;\"'\s{{}}]{{1,300}}))(?=;|\Z)"
    ),
    Uncompiled(r"(?i)\bu(?:id|ser)?=[^;\s]{1,64};p=(?P<secret>[^;\s]{1,128})"),
    Uncompiled(
        r"[?&](?i:key|auth|appid|code|session_?id|sid|hash_?key)=(?P<secret>(?=[^\s&]{0,100}\d)(?=[^\s&]{0,100}[A-Za-z])[A-Za-z0-9_\-.]{20,2000})(?=[\s&#\"']|\Z)"
    ),
    Uncompiled(r"(?i:[?&](?:code|code_verifier)=|\bcode_verifier=|\bgrant_type=authorization_code&code=)(?P<secret>[\w\-.~%]{20,2000})"),
    Uncompiled(
        rf"(?i:\brole_?id[\"'\\]{{0,4}}\s?[:=]\s?[\"'\\]{{0,4}}{_UUID}[\"'\\]{{0,4}},?\s{{0,4}}[\"'\\]{{0,4}}secret_?id[\"'\\]{{0,4}}\s?[:=]\s?[\"'\\]{{0,4}})(?P<secret>{_UUID})"
    ),
    Uncompiled(r"\bSAMLResponse=(?P<secret>[A-Za-z0-9+/=%]{40,})"),
    Uncompiled(r"<(?:\w{1,10}:)?SignatureValue>(?P<secret>[A-Za-z0-9+/=\s]{40,})<"),
    Uncompiled(r"<SignatureProvided>(?P<secret>[A-Za-z0-9+/=]{20,})<"),
    Uncompiled(r"\b(?:https?|git|ftps?|nats|tls|rediss?|amqps?|wss?):\\?/\\?/(?P<secret>" + _RANDOM + r")@"),
    Uncompiled(r"jdbc:oracle:\w{1,20}:[^/\s@:]{1,300}/(?P<secret>[^\s\"\']{1,300})@"),
    Uncompiled(
        r"(?<![\w/.@:\-])(?!mailto:|sip:|xmpp:|acct:|npm:|docker:)[A-Za-z][\w.\-]{0,63}:(?P<secret>[^\s/@:\"'<>{}\[\],;=]{3,128})"
        r"@(?=(?:[\w\-]{1,63}\.){0,8}[A-Za-z][\w\-]{0,62}(?::\d|/\w))"
    ),
    Uncompiled(r"\b(?i:bearer\s+)(?!YOUR)(?P<secret>(?=[^\s\"']{0,300}[\d._=+/\-])[A-Za-z0-9._~+/=\-]{8,})"),
    Uncompiled(r"\b(?i:basic\s+)(?!base64\b)(?P<secret>(?=[A-Za-z0-9+/]{0,300}(?:[\d=+/]|[a-z][A-Z]))[A-Za-z0-9+/]{6,}={0,2})"),
    *(Uncompiled(rf"{_BEGINS}(?P<secret>{token})") for token in (*TOKENS, *HASHES)),
    Uncompiled(r"(?:(?<![A-Za-z0-9_\-])|(?<=\\[nrt]))(?P<secret>eyJ[\w\-]{5,}\.[\w\-]{0,4000}(?:\.[\w\-]*){1,3})"),
    *map(Uncompiled, SECOND_PARTS),
    *WEBHOOKS,
    Uncompiled(rf"(?i:\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+|values\s+)?){_LITERAL}", re.DOTALL),
    Uncompiled(
        r"(?i:\b(?:user|role|to|link)\s+(?:if\s+(?:not\s+)?exists\s+)?(?!(?:is|are|was|were|be|can|and|or)\s)[^\s;]{1,200}\s+identified\s+"
        rf"(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+|values\s+)?)(?!values\s|['\"]){_UNQUOTED}"
    ),
    Uncompiled(rf"(?i:\bidentified\s+by\s+\S{{1,200}}\s+replace\s+)(?:{_LITERAL}|{_UNQUOTED})", re.DOTALL),
    *STATEMENTS,
    Uncompiled(
        rf"(?i:\bset\s+password\b[^=;'\"]{{0,100}}(?:'[^']{{0,100}}'@'[^']{{0,100}}'|'[^']{{0,100}}')?\s*=\s*(?:(?:old_)?password\s*\()?\s*){_LITERAL}",
        re.DOTALL,
    ),
    Uncompiled(rf"(?i:\bpassword\s+){_LITERAL}", re.DOTALL),
    *COMMANDS,
    *CODE,
)
"""Each pattern has the secret in a group whose name begins with `secret`."""


def mask_forms(patterns: Iterable[Rule], text: str, mask: Mask) -> str:
    """Mask the secrets in a text that match patterns, one pattern after another."""
    for rule in patterns:
        if len(text) > SHORT:
            text = rule.sub(lambda found: _masked(found, mask), text)
        elif rule.pattern.search(text):  # most patterns do not match a short text, which costs least to find out first
            text = rule.pattern.sub(lambda found: _masked(found, mask), text)
    return text


def _masked(found: re.Match[str], mask: Mask) -> str:
    group = 1 if found.re.groups == 1 else next((name for name, value in found.groupdict().items() if value), None)
    secret = found[group] if group is not None else None
    if group is None or not secret or secret.startswith(MASK):
        return found[0]
    begins, (start, stop) = found.start(), found.span(group)
    start, stop = start - begins, stop - begins
    if secret[:1] in "\"'" and secret[-1:] == secret[:1] and len(secret) > 1:
        start, stop, secret = start + 1, stop - 1, secret[1:-1]
    return found[0] if secret.startswith(MASK) or is_reference(secret.split(" ")[-1]) else found[0][:start] + mask(secret) + found[0][stop:]
