"""Secrets at fixed positions of statements, even if quoted in another text: of SQL and its procedures, and of configuration files."""

import re

_ARGUMENTS = r"\s*\(\s*(?:'[^'\n]*'|[\w.]{1,100})\s*,\s*'[^'\n]*'\s*,\s*"

STATEMENTS = (
    re.compile(rf"\b(?i:SET_AUTHENTICATION|CREATE_CREDENTIAL){_ARGUMENTS}'(?P<secret>[^'\n]+)'"),
    re.compile(r"\b(?i:OPENROWSET)\s*\(\s*'[^'\n]*'\s*,\s*'[^'\n]*'\s*;\s*'[^'\n]*'\s*;\s*'(?P<secret>[^'\n]+)'"),
    re.compile(r"\b(?i:sp_addlogin)\s+N?'[^'\n]*'\s*,\s*N?'(?P<secret>[^'\n]+)'"),
    re.compile(
        r"\bsp_addlinkedsrvlogin\s[^;\n]{1,200}?,\s*N?'[^'\n]*'\s*,\s*(?:@rmtpassword\s*=\s*)?N?'(?P<secret>[^'\n]+)'\s*(?=[;\n]|\Z)"
    ),
    re.compile(r"\b(?i:pwencode)\s+(?i:in)=['\"](?P<secret>[^'\"\n]+)['\"]"),
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

_VALUE = r"(?P<secret>\"[^\"\n]+\"|[^\s\"';$<{][^\s\"';]{2,127})"
DEVICES = (
    re.compile(rf"\b(?:enable|username\s\S{{1,64}}(?:\sprivilege\s\d{{1,2}})?)\s(?:secret|password)\s\d\s{_VALUE}"),
    re.compile(rf"\bsnmp-server\scommunity\s{_VALUE}"),
    re.compile(rf"\b(?:tacacs|radius)-server\s[^\n]{{0,100}}?\bkey\s(?:\d\s)?{_VALUE}"),
    re.compile(rf"\bisakmp\skey\s(?:\d\s)?{_VALUE}"),
    re.compile(rf"\bSQLConnectInfo\s\S{{1,200}}\s\S{{1,64}}\s{_VALUE}"),
    re.compile(r":\s+(?:PSK|(?:RSA|ECDSA|PKCS8)\s\S{1,200}|EAP|XAUTH)\s+\"(?P<secret>[^\"\n]{4,200})\""),
    re.compile(
        r"\bchpasswd:\s{1,8}(?:expire:\s\w{1,8}\s{1,8})?list:\s{0,3}\|?\s{1,20}"
        r"(?P<secret>[\w.\-]{1,32}:\S{1,127}(?:\s{1,20}[\w.\-]{1,32}:\S{1,127}){0,20})"
    ),
    re.compile(r"\bWIFI:(?:[A-OQ-Z]:[^;\n]{0,100};){0,4}P:(?P<secret>(?:\\.|[^;\\\n]){1,127});"),
    re.compile(r"\bNEO4J_AUTH[=:]\s?\w{1,64}/(?P<secret>[^\s\"']{1,127})"),
    re.compile(r"\b(?i:unseal|recovery)\s(?i:key)\s\d{1,2}\s?:\s{1,3}(?P<secret>[A-Za-z0-9+/]{40,80}={0,2}|[0-9a-f]{60,})"),
)
"""Lines of the configuration of servers and network devices."""
