"""Secrets at fixed positions of SQL statements and procedures, even if a statement is quoted in another text."""

from lineage_bridge.openlineage.required_text import Uncompiled

_ARGUMENTS = r"\s*\(\s*(?:'[^'\n]*'|[\w.]{1,100})\s*,\s*'[^'\n]*'\s*,\s*"

_KEY = r"(?=[^'\n]{0,60}\d)(?=[^'\n]{0,60}[a-z])(?=[^'\n]{0,60}[A-Z])"

STATEMENTS = (
    Uncompiled(
        rf"\b(?i:secret_access_key|session_token|master_symmetric_key)\s{{1,8}}(?:(?i:as)\s{{1,8}})?\\{{0,2}}'{{1,2}}(?P<secret>{_KEY}[A-Za-z0-9+/=]{{20,4096}})\\{{0,2}}'"
    ),
    Uncompiled(
        rf"\b(?i:aes_(?:en|de)crypt)\(\s{{0,8}}(?:\w{{1,60}}\(\s{{0,4}})?[\w.\"`]{{1,100}}\s{{0,4}}\)?\s{{0,4}},\s{{0,8}}'(?P<secret>{_KEY}(?:[^\s']{{16}}|[^\s']{{24}}|[^\s']{{32}}))'"
    ),
    Uncompiled(rf"\b(?i:SET_AUTHENTICATION|CREATE_CREDENTIAL){_ARGUMENTS}'(?P<secret>[^'\n]+)'"),
    Uncompiled(r"\b(?i:OPENROWSET)\s*\(\s*'[^'\n]*'\s*,\s*'[^'\n]*'\s*;\s*'[^'\n]*'\s*;\s*'(?P<secret>[^'\n]+)'"),
    Uncompiled(
        r"\b(?i:sp_addlinkedsrvlogin)\s+N?'[^'\n]*'\s*,\s*N?'[^'\n]*'\s*,\s*(?:NULL|N?'[^'\n]*')\s*,\s*N?'[^'\n]*'\s*,\s*N?'(?P<secret>[^'\n]+)'"
    ),
    Uncompiled(r"\b(?i:sp_addlogin)\s+N?'[^'\n]*'\s*,\s*N?'(?P<secret>[^'\n]+)'"),
    Uncompiled(r"\baccount_add\s*\(\s*'[^'\n]*'\s*,\s*'(?P<secret>[^'\n]+)'"),
    Uncompiled(r"\b(?i:PRAGMA\s+(?:re)?key)\s*=\s*['\"](?P<secret>[^'\"\n]+)['\"]"),
    Uncompiled(r"\b(?i:ATTACH)\s[^;\n]{1,300}\s(?i:KEY)\s+'(?P<secret>[^'\n]+)'"),
    Uncompiled(
        r"\b(?i:CREATE\s+(?:OR\s+REPLACE\s+)?SECRET)\s[^;'\n]{1,200}(?:'[^'\n]{0,100}'[^;'\n]{0,100}){0,3}?\b(?i:AS)\s+'(?P<secret>[^'\n]+)'"
    ),
    Uncompiled(
        r"\b(?i:CREATE\s+(?:OR\s+REPLACE\s+)?(?:PERSISTENT\s+)?SECRET)\s[^;'\n]{1,200}(?:'[^'\n]{0,100}'[^;'\n]{0,100}){0,3}?[\s(](?i:SECRET)\s+'(?P<secret>[^'\n]+)'"
    ),
    Uncompiled(r"\b(?:AWS|GCS)Auth\s*=\s*'[^':\n]{1,200}:(?P<secret>[^'\n]+)'"),
    Uncompiled(r"\b(?i:username)\s*\('[^'\n]*'\)\s*(?i:password)\s*\(\s*'(?P<secret>[^'\n]+)'"),
    Uncompiled(r"'(?P<secret>(?=[^'\n]{0,100}\d)[^'\n]{4,128})'\s+(?i:AS)\s+[\"`]?(?i:password|passwd|pwd)\b"),
)
"""Each pattern has the secret in the group `secret`."""
