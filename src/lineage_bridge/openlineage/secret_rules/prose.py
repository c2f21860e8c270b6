"""Secrets in sentences and tables: only what has letters and digits can be one, so that sentences about secrets stay."""

import re

_CANDIDATE = (
    r"(?!\*{3})(?=[^\s]{0,40}\d)(?=[^\s]{0,40}[A-Za-z])(?!(?i:sha|md|utf|base|oauth|tls|ssl|v)-?\d|(?i:https?|bcrypt|scram|pbkdf|argon|arn:))"
    r"[A-Za-z0-9!@#$%^&*+_\-.~=?]{5,127}[A-Za-z0-9!#$%&+_\-=?]"
)
_NAMES = r"(?i:password|passwd|passphrase|passwort|kennwort|pw|pwd|api[ \-]key|access[ \-]key|secret[ \-]key|private[ \-]key)"

PROSE = (
    re.compile(rf"\b{_NAMES}(?:\s(?:is|ist|was))?(?:[\s:=|`'\"]|\*(?!\*\*)){{1,8}}(?P<secret>{_CANDIDATE})(?![\w(\[])"),
    re.compile(rf"\b(?i:credentials?|login|user(?:name)?)\s?:\s?[\w.\-]{{1,64}}\s?/\s?(?P<secret>{_CANDIDATE})(?![\w(\[])"),
)
"""Each has the secret in the group `secret`."""
