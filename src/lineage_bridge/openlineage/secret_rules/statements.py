"""Secrets at fixed positions of SQL statements and procedures, even if a statement is quoted in another text."""

import re

_ARGUMENTS = r"\s*\(\s*(?:'[^'\n]*'|[\w.]{1,100})\s*,\s*'[^'\n]*'\s*,\s*"

STATEMENTS = (
    re.compile(rf"\b(?i:SET_AUTHENTICATION|CREATE_CREDENTIAL){_ARGUMENTS}'(?P<secret>[^'\n]+)'"),
    re.compile(r"\b(?i:OPENROWSET)\s*\(\s*'[^'\n]*'\s*,\s*'[^'\n]*'\s*;\s*'[^'\n]*'\s*;\s*'(?P<secret>[^'\n]+)'"),
    re.compile(r"\b(?i:sp_addlogin)\s+N?'[^'\n]*'\s*,\s*N?'(?P<secret>[^'\n]+)'"),
    re.compile(r"\baccount_add\s*\(\s*'[^'\n]*'\s*,\s*'(?P<secret>[^'\n]+)'"),
    re.compile(r"\b(?i:PRAGMA\s+(?:re)?key)\s*=\s*['\"](?P<secret>[^'\"\n]+)['\"]"),
    re.compile(r"\b(?i:ATTACH)\s[^;\n]{1,300}\s(?i:KEY)\s+'(?P<secret>[^'\n]+)'"),
    re.compile(
        r"\b(?i:CREATE\s+(?:OR\s+REPLACE\s+)?SECRET)\s[^;'\n]{1,200}(?:'[^'\n]{0,100}'[^;'\n]{0,100}){0,3}?\b(?i:AS)\s+'(?P<secret>[^'\n]+)'"
    ),
    re.compile(r"\b(?:AWS|GCS)Auth\s*=\s*'[^':\n]{1,200}:(?P<secret>[^'\n]+)'"),
    re.compile(r"\b(?i:username)\s*\('[^'\n]*'\)\s*(?i:password)\s*\(\s*'(?P<secret>[^'\n]+)'"),
    re.compile(r"'(?P<secret>(?=[^'\n]{0,100}\d)[^'\n]{4,128})'\s+(?i:AS)\s+[\"`]?(?i:password|passwd|pwd)\b"),
)
"""Each pattern has the secret in the group `secret`."""
