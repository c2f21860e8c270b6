"""Secrets that are recognised by their own form, or by the words around them.

The forms of tokens are those that their issuers document, and that secret scanners (gitleaks, detect-secrets) look for.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

MASK = "********"
"""The text that replaces a secret."""
Mask: TypeAlias = Callable[[str], str]
"""What replaces a secret."""

_WORD = r"[A-Za-z0-9_\-]"
_TOKENS = (
    rf"gh[pousr]_[A-Za-z0-9]{{20,}}|github_pat_\w{{20,}}|gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent)-{_WORD}{{16,}}",
    rf"xox[a-z](?:\.xox[a-z])?-{_WORD}{{8,}}|xapp-{_WORD}{{10,}}",
    rf"sk-(?:ant-|proj-|svcacct-|or-)?{_WORD}{{16,}}|(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{{10,}}|whsec_[A-Za-z0-9+/=]{{16,}}",
    rf"AIza{_WORD}{{30,}}|ya29\.{_WORD}{{20,}}|GOCSPX-{_WORD}{{20,}}",
    rf"dapi[a-f0-9]{{32}}(?:-\d)?|hf_[A-Za-z0-9]{{20,}}|npm_[A-Za-z0-9]{{30,}}|pypi-{_WORD}{{16,}}",
    rf"SG\.{_WORD}{{16,}}\.{_WORD}{{16,}}|key-[0-9a-f]{{32}}|SK[0-9a-f]{{32}}|xkeysib-[0-9a-f]{{32,}}(?:-\w+)?|[0-9a-f]{{32}}-us\d{{1,2}}",
    rf"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{{32}}|do[oprt]_v1_[a-f0-9]{{32,}}|dckr_pat_{_WORD}{{20,}}|hv[sbr]\.{_WORD}{{20,}}|{_WORD}{{14}}\.atlasv1\.{_WORD}{{40,}}",
    rf"gl(?:sa|c)_[A-Za-z0-9+/=_]{{20,}}|NRAK-[A-Z0-9]{{20,}}|PMAK-{_WORD}{{40,}}|figd_{_WORD}{{30,}}|lin_api_[A-Za-z0-9]{{30,}}|ntn_[A-Za-z0-9]{{30,}}",
    rf"sq0(?:atp|csp)-{_WORD}{{20,}}|EAAC{_WORD}{{30,}}|sntry[su]_{_WORD}{{30,}}|pscale_(?:tkn|pw|oauth)_{_WORD}{{20,}}|lsv2_(?:pt|sk)_\w{{20,}}",
    rf"rubygems_[a-f0-9]{{40,}}|oy2[a-z0-9]{{43}}|tfp_{_WORD}{{20,}}|sgp_[A-Za-z0-9_]{{30,}}|ATATT3[A-Za-z0-9_\-=]{{30,}}|ATCTT3[A-Za-z0-9_\-=]{{30,}}",
    rf"AGE-SECRET-KEY-1[A-Z0-9]{{40,}}|LTAI[A-Za-z0-9]{{16,24}}|\d{{8,10}}:AA[A-Za-z0-9_\-]{{30,}}|nvapi-{_WORD}{{30,}}",
    rf"r8_[A-Za-z0-9]{{30,}}|gsk_[A-Za-z0-9]{{30,}}|pplx-[A-Za-z0-9]{{30,}}|phc_[A-Za-z0-9]{{30,}}|CCIPAT_{_WORD}{{20,}}|fo1_{_WORD}{{30,}}|dp\.pt\.\w{{30,}}",
    r"[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.\-]{31,34}|dt0[a-z]\d\d\.[A-Z0-9]{20,}\.[A-Z0-9]{40,}|ops_eyJ[A-Za-z0-9+/=]{40,}",
)
_USER = r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]{0,40}:\\?/\\?/[^\s/?#\"'@:]{0,300}:"
_LITERAL = r"(?:'(?P<secret>(?:[^']|'')*)'|\"(?P<secret2>[^\"]*)\")"
_RANDOM = r"(?=[^\s@/:]*\d)(?=[^\s@/:]*[A-Za-z])[A-Za-z0-9_.\-~]{12,300}"
_SCHEMES = "basic|bearer|digest|token|negotiate|ntlm|hmac|aws4-hmac-sha256|api-?key|splunk|key|sharedkey|sharedkeylite|signature|oauth|jwt"
_COMMANDS = r"\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n|;]{0,200}?\s-p"
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
    re.compile(r"(?<![0-9A-Za-z])(?P<secret>A(?:KIA|SIA|BIA|CCA)[0-9A-Z]{16}(?:[\s:,/\"'=]{1,3}[A-Za-z0-9/+=]{40})?)(?![0-9A-Za-z])"),
    re.compile(_USER + r"(?P<secret>[^\s/?#\"']{1,300})@"),
    re.compile(r"\b(?:https?|git|ftps?):\\?/\\?/(?P<secret>" + _RANDOM + r")@"),
    re.compile(r"jdbc:oracle:\w{1,20}:[^/\s@:]{1,300}/(?P<secret>[^\s\"\']{1,300})@"),
    re.compile(r"\bsqlplus\s+(?:-\w+\s+)?\w{1,64}/(?P<secret>[^\s@/]{1,128})@"),
    re.compile(
        r"(?<![\w/.@:\-])(?!mailto:|sip:|xmpp:|acct:|npm:|docker:)[A-Za-z][\w.\-]{0,63}:(?P<secret>[^\s/@:\"'<>{}\[\],;=]{3,128})"
        r"@(?=(?:[\w\-]{1,63}\.){0,8}[A-Za-z][\w\-]{0,62}(?::\d|/\w))"
    ),
    re.compile(r"\b(?i:bearer\s+)(?P<secret>(?=[^\s\"']{0,300}[\d._=+/\-])[A-Za-z0-9._~+/=\-]{8,})"),
    re.compile(r"\b(?i:basic\s+)(?P<secret>(?=[A-Za-z0-9+/]{0,300}(?:[\d=+/]|[a-z][A-Z]))[A-Za-z0-9+/]{6,}={0,2})"),
    re.compile(r"(?<![A-Za-z0-9_])(?P<secret>" + "|".join(_TOKENS) + ")"),
    re.compile(r"(?<![\w\-])(?P<secret>eyJ[\w\-]{5,}\.[\w\-]{4,}\.[\w\-]*)"),
    re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9_/\-]{10,})"),
    re.compile(
        r"discord(?:app)?\.com/api/webhooks/\d+/(?P<secret>[\w\-]{10,})|\.webhook\.office\.com/webhookb2/(?P<secret2>[^\s\"'?]{10,})"
    ),
    re.compile(rf"(?i:\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?)(?:{_LITERAL}|(?P<secret3>[^\s;,'\"*]+))", re.DOTALL),
    re.compile(rf"(?i:\bpassword\s+){_LITERAL}", re.DOTALL),
    re.compile(
        r"(?<![\w\-])(?:-u|-U|--user|--proxy-user)(?:\s{1,3}|=)?[\"']?(?!\d+:\d+\b)[^\s:\"'@/\-][^\s:\"'@/]{0,63}:(?P<secret>[^\s\"']{1,300})"
    ),
    re.compile(_COMMANDS + r"(?P<secret>'[^']+'|\"[^\"]+\"|[^\s\-'\"][^\s'\"]*)"),
    re.compile(
        r"\b(?:sshpass\s+-p|redis-cli\b[^\n|;]{0,100}?\s-a|sqlcmd\b[^\n|;]{0,200}?\s-P|docker\s+login\b[^\n|;]{0,200}?\s-p|mongosh?\b[^\n|;]{0,200}?\s-p)\s*(?P<secret>'[^']+'|\"[^\"]+\"|[^\s\-'\"][^\s'\"]*)"
    ),
)
"""Each has the secret in a group whose name begins with `secret`."""


def mask_form(pattern: re.Pattern[str], text: str, mask: Mask) -> str:
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
    return found[0] if secret.startswith(MASK) else found[0][:start] + mask(secret) + found[0][stop:]
