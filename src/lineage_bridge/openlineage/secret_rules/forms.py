"""Secrets that are recognised by their own form, or by the words around them.

The forms of tokens are those that their issuers document, and that secret scanners (gitleaks, detect-secrets) look for.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

from lineage_bridge.openlineage.prefilter import Rule
from lineage_bridge.openlineage.secret_rules.code import CODE
from lineage_bridge.openlineage.secret_rules.commands import COMMANDS
from lineage_bridge.openlineage.secret_rules.tokens import TOKENS
from lineage_bridge.openlineage.secret_rules.values import MASK, is_reference
from lineage_bridge.openlineage.secret_rules.webhooks import WEBHOOKS

Mask: TypeAlias = Callable[[str], str]
"""What replaces a secret."""

_USER = r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{0,40}:\\?/\\?/[^\s/?#\"'@:]{0,300}:"
_LITERAL = r"(?:'(?P<secret>(?:[^']|'')*)'|\"(?P<secret2>[^\"]*)\")"
_RANDOM = r"(?=[^\s@/:]*\d)(?=[^\s@/:]*[A-Za-z])[A-Za-z0-9_.\-~]{12,300}"
_SCHEMES = (
    "basic|bearer|digest|token|negotiate|ntlm|hmac|aws4-hmac-sha256|api-?key|ssws|apitoken|genie-?key"
    "|splunk|key|sharedkey|sharedkeylite|signature|oauth|jwt"
)
FORMS = (
    re.compile(
        r"-----BEGIN (?:[A-Z ]{0,30})PRIVATE KEY(?: BLOCK)?-----(?P<secret>.*?)(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z)",
        re.DOTALL,
    ),
    re.compile(r"Private-Lines: \d+(?P<secret>(?:\s+[A-Za-z0-9+/=]{20,})+)"),
    re.compile(r"\b(?i:digest)\s[^\r\n]{0,300}?\bresponse=\\{0,2}\"(?P<secret>[^\"\\]+)"),
    re.compile(
        r"(?i:authorization[\\\"']{0,4}\s{0,4}[:=]\s{0,4}[\\\"']{0,4})"
        rf"(?P<secret>(?i:{_SCHEMES})\s+[^\"'\\\r\n]+|(?=[^\s\"']{{0,300}}\d)[^\s\"'\\]{{12,}})"
    ),
    re.compile(r"(?<![0-9A-Za-z])(?P<secret>A(?:KIA|SIA|BIA|CCA)[0-9A-Z]{16}(?:[\s:,/\"'=]{1,5}[A-Za-z0-9/+=]{40})?)(?![0-9A-Za-z])"),
    re.compile(r"\bhttps?://(?P<secret>[0-9a-f]{32}:[0-9a-f]{32})@"),
    re.compile(_USER + r"(?P<secret>[^\s/?#\"']{1,300})@"),
    re.compile(r"\b(?:https?|git|ftps?|nats|tls|rediss?|amqps?|wss?):\\?/\\?/(?P<secret>" + _RANDOM + r")@"),
    re.compile(r"jdbc:oracle:\w{1,20}:[^/\s@:]{1,300}/(?P<secret>[^\s\"\']{1,300})@"),
    re.compile(
        r"(?<![\w/.@:\-])(?!mailto:|sip:|xmpp:|acct:|npm:|docker:)[A-Za-z][\w.\-]{0,63}:(?P<secret>[^\s/@:\"'<>{}\[\],;=]{3,128})"
        r"@(?=(?:[\w\-]{1,63}\.){0,8}[A-Za-z][\w\-]{0,62}(?::\d|/\w))"
    ),
    re.compile(r"\b(?i:bearer\s+)(?P<secret>(?=[^\s\"']{0,300}[\d._=+/\-])[A-Za-z0-9._~+/=\-]{8,})"),
    re.compile(r"\b(?i:basic\s+)(?P<secret>(?=[A-Za-z0-9+/]{0,300}(?:[\d=+/]|[a-z][A-Z]))[A-Za-z0-9+/]{6,}={0,2})"),
    re.compile(r"(?<![A-Za-z0-9_])(?P<secret>" + "|".join(TOKENS) + ")"),
    re.compile(r"(?<![\w\-])(?P<secret>eyJ[\w\-]{5,}\.[\w\-]{4,}\.[\w\-]*)"),
    *WEBHOOKS,
    re.compile(rf"(?i:\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?)(?:{_LITERAL}|(?P<secret3>[^\s;,'\"*]+))", re.DOTALL),
    re.compile(rf"(?i:\bidentified\s+by\s+\S{{1,200}}\s+replace\s+){_LITERAL}", re.DOTALL),
    re.compile(
        rf"(?i:\bset\s+password\b[^=;'\"]{{0,100}}(?:'[^']{{0,100}}'@'[^']{{0,100}}'|'[^']{{0,100}}')?\s*=\s*(?:(?:old_)?password\s*\()?\s*){_LITERAL}",
        re.DOTALL,
    ),
    re.compile(rf"(?i:\bpassword\s+){_LITERAL}", re.DOTALL),
    *COMMANDS,
    *CODE,
)
"""Each has the secret in a group whose name begins with `secret`."""


def mask_form(pattern: Rule, text: str, mask: Mask) -> str:
    """A text with the secrets of one form masked."""
    return pattern.sub(lambda found: _masked(found, mask), text)


def _masked(found: re.Match[str], mask: Mask) -> str:
    group = next((name for name, value in found.groupdict().items() if value), None)
    if group is None or found[group].startswith(MASK):
        return found[0]
    start, stop = (place - found.start() for place in found.span(group))
    secret = found[group]
    if secret[:1] in "\"'" and secret[-1:] == secret[:1] and len(secret) > 1:
        start, stop, secret = start + 1, stop - 1, secret[1:-1]
    return found[0] if secret.startswith(MASK) or is_reference(secret.split(" ")[-1]) else found[0][:start] + mask(secret) + found[0][stop:]
