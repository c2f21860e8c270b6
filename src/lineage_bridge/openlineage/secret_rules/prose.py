"""Secrets in sentences and tables. Only words with both letters and digits count as secrets, so that sentences about secrets are not
masked.
"""

from lineage_bridge.openlineage.required_text import Uncompiled
from lineage_bridge.openlineage.secret_rules.foreign import FOREIGN

_WORD = (
    r"(?!\*{3}|(?i:password|passwd|token|secret)_[a-z_]{1,60}\d{0,2}(?!\w))(?=[A-Za-z!@#$%^&*+_\-.~=?]{0,40}\d)"
    r"(?=[^A-Za-z\s]{0,40}[A-Za-z])(?!(?i:sha|md|utf|base|oauth|tls|ssl|v)-?\d|(?i:https?|bcrypt|scram|pbkdf|argon|arn:))"
    r"(?![\w\-]{1,60}\.(?:txt|log|csv|json|ya?ml|py|sh|sql|md|xml|conf|ini|html?|java|parquet)\b)(?![\w.+\-]{1,64}@[\w\-]{1,64}\.[a-z])"
)
_CANDIDATE = _WORD + r"[A-Za-z0-9!@#$%^&*+_\-.~=?]{5,127}[A-Za-z0-9!#$%&+_\-=?]"
_WHOLE = rf"(?P<secret>{_CANDIDATE})(?![\w(\[]|\.\w)"
_NAMES = rf"(?i:password|passwd|passphrase|pass phrase|pw|pwd|api[ \-]key|access[ \-]key|secret[ \-]key|private[ \-]key|{FOREIGN})"
_IS = r"(?:\s(?:is|was|ist|lautet|est|es|é|è|e|to|is:|to:)|\s?(?:は|是))"
_KEY = r"(?=[^\s]{0,60}\d)(?=[^\s]{0,60}[a-z])(?=[^\s]{0,60}[A-Z])[A-Za-z0-9_\-+/.~]{20,300}={0,2}"
_HEX = r"[0-9a-f]{32,128}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

PROSE = (
    Uncompiled(
        rf"(?<!\b[Ll]ock )\b(?i:token|secret|(?:secret|access|secret access|api|auth|write|signing|private|encryption|master)[ \-_]key)"
        rf"[\"'`:=]{{0,3}}\s{{1,3}}"
        rf"(?:(?i:is|was|es|est|ist)\s)?[\"'`]?(?P<secret>{_KEY}|{_HEX})(?![\w\-/.]\w)"
    ),
    Uncompiled(rf"(?<!\w){_NAMES}{_IS}?(?:[\s:\uff1a=|`'\"«]|\*(?!\*\*)){{1,8}}{_WHOLE}"),
    Uncompiled(rf"(?<!\w){_NAMES}\s?(?:は|是|:|\uff1a)\s?{_WHOLE}"),
    Uncompiled(
        r"\b(?i:password|passphrase|pw|secret)\b(?! (?i:policy|rules?|format|length|hint|strength)\b)"
        r"(?: [^\s.;:=()]{1,20}(?:\.[^\s.;:=()]{1,20}){0,5}){0,5}?"
        rf"(?: (?:is|was|to|as)|\s?[:=→(])(?:\s|[`'\"(*]){{1,4}}{_WHOLE}"
    ),
    Uncompiled(rf"(?<!\w)(?i:{FOREIGN}|clave|codice segreto)(?: [^\s.;:=()]{{1,20}}){{0,3}}?(?:{_IS}|\s?[:=])\s{_WHOLE}"),
    Uncompiled(r"\b(?i:passphrase)\b[^.;=\n]{0,40}?[:=]\s(?P<secret>[a-z]+(?:-[a-z]+){3,})(?![\w\-])"),
    Uncompiled(rf"\b(?i:(?:credentials?|login|user(?:name)?)\s?:\s?|(?:log in|logged in|connect) as\s)[\w.\-]{{1,64}}\s?/\s?{_WHOLE}"),
    Uncompiled(rf"\b(?i:creds?|credentials?)\b(?: [^\s.;:=()]{{1,20}}){{0,5}} [\w.\-]{{1,64}}:{_WHOLE}"),
    Uncompiled(rf"\b[\w.\-]{{1,64}} / (?P<secret>{_CANDIDATE}) \(password"),
    Uncompiled(
        rf"(?i:log[io]n|connect\w{{0,4}})(?: [a-z]{{1,10}}){{0,2}} \w{{1,64}}/(?P<secret>{_CANDIDATE.replace('@', '')})@(?=//|[A-Za-z])"
    ),
    Uncompiled(r"\b(?i:secret|sk)\s(?P<secret>[A-Za-z0-9+/]{30,64}={0,2})(?![\w+/])"),
    Uncompiled(
        rf"\b(?i:encryption|secret|private|signing|master|api|access) key\b(?: [^\s.;:=()]{{1,20}}){{1,6}}?(?: (?:is|was)|:)"
        rf" (?P<secret>{_KEY}|{_HEX})"
    ),
    Uncompiled(rf"\b(?P<secret>{_HEX}|{_KEY}) as (?i:api key|token|secret|password)\b"),
    Uncompiled(
        r"\b(?:PIN|OTP|[Oo]ne[ \-]time (?:password|code)|TOTP"
        r"|(?i:verification|security|login|confirmation|access|2fa|mfa|sms) code)(?: is|:) (?P<secret>\d{4,8})\b"
    ),
    Uncompiled(
        rf"\|\s?(?i:password|passwort|pw|token|secret)\s?\|\s?\n\|[\s:|\-]{{3,300}}\n(?:\|[^|\n]{{0,200}}){{0,6}}\|\s?(?P<secret>{_CANDIDATE})\s?\|"
    ),
    Uncompiled(r"\b(?i:passphrase)\b[^\n\"']{0,20}[\"'](?P<secret>[^\"'\n]{0,60}\d[^\"'\n]{0,60})[\"']"),
    Uncompiled(
        r"\b(?i:seed phrase|mnemonic|recovery phrase)(?:\s(?:is|was)|\s?[:=])\s{1,3}[\"'`]?"
        r"(?P<secret>[A-Za-z]{3,12}(?:[ \-][A-Za-z0-9]{3,12}){3,23})"
    ),
    Uncompiled(r"\b(?i:token|api[ _]?key|secret)\s\((?P<secret>(?=[^\s()]{0,60}\d)[A-Za-z0-9_\-+/.=]{20,300})\)"),
    Uncompiled(rf"\b(?i:creds?|credentials?) \([\w.\-]{{1,64}}[/:]{_WHOLE}\)"),
    Uncompiled(rf"\b\w{{1,64}} / {_WHOLE} to log ?in"),
    Uncompiled(r"\bAuthorization: GoogleLogin auth=(?P<secret>[^\s\"']{8,})"),
    Uncompiled(r"\b(?:[HS]{0,2}SID|[A-Z]{0,10}SESSIONID|PHPSESSID|connect\.sid)=(?P<secret>[\w\-.%]{12,4000})"),
)
"""Each pattern has the secret in the group `secret`."""

SENTENCES = (
    Uncompiled(rf"\b(?i:password|passwd|pwd|token|secret)\b[^\n]{{0,60}}?\b(?:tried|value:|value|using|with|was|from)\s[\"'`]?{_WHOLE}"),
    Uncompiled(rf"\b(?i:password|passwd|pwd)\b[^\n]{{0,60}}?\bto\s[\"'`]?{_WHOLE}"),
)
"""More such patterns, for texts that are not SQL statements."""
