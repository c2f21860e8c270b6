"""Secrets in command lines of known programs."""

import re

from lineage_bridge.openlineage.required_text import Uncompiled

_REST = r"[^\n|;]{0,200}?"
_VALUE = r"(?P<secret>'[^']+'|\"[^\"]+\"|[^\s\-'\"`][^\s'\"]*)"
_FIRST = r"[\s'\"]"
_CLIENTS_WITH_A_PASSWORD = (
    (r"(?:redis|valkey)-\w{2,12}", "a"),
    (r"sqlcmd|bcp|unzip|zip|mosquitto_(?:pub|sub)", "P"),
    (r"docker\s+login|podman\s+login|az\s+login|mongo\w{0,10}|beeline|sshpass|impala-shell|cqlsh|dse|cypher-shell|users\s+create", "p"),
    (r"ldap(?:search|add|modify|delete|passwd|whoami|compare)|vsql|kadmin", "w"),
    (r"gsql|gs_dump", "W"),
    (r"ssh-keygen", "N"),
    (r"openssl", "(?:k|K|hmac)\\b"),
    (r"snmp\w{2,10}", "A"),
    (r"sendemail", "xp"),
    (r"snmp\w{2,10}", "X"),
    (r"plink|pscp|psftp|nzsql|addprinc", "pw"),
)
_MYSQL = r"(?:mysql|mariadb)\w{0,10}(?:-dump)?"
_ORACLE = r"(?i:sqlplus|sqlldr|sqlcl|expdp|impdp|exp|imp|rman|connect|conn)"

COMMANDS = (
    *(Uncompiled(rf"\b(?:{names})\b{_REST}\s-{option}\s*{_VALUE}") for names, option in _CLIENTS_WITH_A_PASSWORD),
    Uncompiled(rf"\b{_MYSQL}\b{_REST}{_FIRST}-p(?P<secret>'[^']+'|\"[^\"]+\"|[^\s\-'\"`][^\s'\"]*)"),
    Uncompiled(rf"\b7za?\s{_REST}\s-p(?P<secret>'[^']+'|\"[^\"]+\"|[^\s\-'\"][^\s'\"]*)"),
    Uncompiled(
        r"(?<![\w\-])(?<!grep )(?<!(?:docker|podman) run )(?<!(?:docker|podman) exec )(?<!--rm )(?<!-it )"
        r"(?:-u|-U|--user|--proxy-user)(?:\s{1,3}|=)?[\"']?(?!\d+:\d+\b|[\w+\-]{1,30}:(?:[\w+\-]{1,30}:)?//)"
        r"[^\s:\"'@/\-$][^\s:\"'@/]{0,63}:(?P<secret>[^\s\"']{1,300})"
    ),
    Uncompiled(rf"\bhttps?\b{_REST}\s(?:-a|--auth)[\s=][\"']?[^\s:\"']{{1,64}}:(?P<secret>[^\s\"']{{1,300}})"),
    Uncompiled(rf"\bcurl\b{_REST}\s(?:-b|--cookie)[\s=][\"']?[\w.\-]{{1,64}}=(?P<secret>[^\s\"';]{{1,4000}})"),
    Uncompiled(r"\s(?:-U|--user)[\s=][\"']?[\w.\\/]{1,64}%(?P<secret>[^\s\"']{1,300})"),
    Uncompiled(rf"\blftp\b{_REST}\s(?:-u|--user)\s[\w.\-]{{1,64}},(?P<secret>[^\s\"']{{1,300}})"),
    Uncompiled(rf"\b{_ORACLE}\s+(?:-\w+\s+)?(?i:userid=)?\w{{1,64}}/(?P<secret>\"[^\"]{{1,128}}\"|[^\s@/\"]{{1,128}})@"),
    Uncompiled(r"\b(?i:sqlplus|sqlldr|expdp|impdp|rman)\s+(?:-\w+\s+)?(?i:userid=)?\w{1,64}/(?P<secret>[^\s@/\"']{1,128})(?=\s|\Z)"),
    Uncompiled(
        r"(?m)^(?![^\n]{0,300}\b(?:mysql|mariadb|docker|podman))[^\n]{0,200}?(?<![\w\-])(?:-u|-U|--user(?:name)?|--login)[\s=]+[^\s\-]\S{0,100}\s"
        r"(?:[^\n|;]{0,100}?\s)?-(?:p|P|w|pw)\s+(?P<secret>'[^']+'|\"[^\"]+\"|(?![\d:.]+(?:/\w+)?(?:\s|\Z))[^\s\-'\"/.$|;&<>`\\][^\s'\"]*)"
    ),
    Uncompiled(r"(?m)^[ \t]*\.(?i:logon)[ \t]+[\w.\-]{1,100}/[\w.\-]{1,64},(?P<secret>[^\s;]{1,128})"),
    Uncompiled(
        r"\becho\s+(?:-n\s+)?(?P<secret>'[^'|]+'|\"[^\"|$]+\"|[^\s'\"|$]+)\s*\|\s*"
        r"(?:kinit\b|ktutil\b|su\b|sudo\s+-S|gpg\b|chpasswd|gcloud\s+secrets\b|[^\n|;]{0,100}--password-stdin)"
    ),
    Uncompiled(r"\bprintf\s+'[^']{0,20}'\s+(?P<secret>'[^'|]+'|\"[^\"|$]+\"|[^\s'\"|$]+)\s*\|\s*(?:kinit|ktutil|su|sudo|gpg)\b"),
    Uncompiled(
        r"(?<![\w\-])(?i:kinit\b[^\n|;<]{0,100}|--pass\w{0,10}|read\s"
        r"[^\n|;<]{0,40}(?:token|pass\w{0,6}|secret|pwd))"
        r"\s*<<<\s*(?P<secret>'[^']+'|\"[^\"$]+\"|[^\s'\"$]+)"
    ),
    Uncompiled(r"(?i:pass(?:word|wd|phrase)?[\w\-]{0,20})[=\s]<\(echo\s+(?:-n\s+)?(?P<secret>[^)\s$]+)\)"),
    Uncompiled(rf"\b(?:SecureString|keyvault\s+secret\s+set)\b{_REST}\s--value[\s=]+{_VALUE}"),
    Uncompiled(r"\balias\s+set\s+\S{1,100}\s+https?://\S{1,200}\s+\S{1,100}\s+(?P<secret>[^\s\-$]\S{2,200})"),
    Uncompiled(r"--(?:src-|dest-)?creds[=\s][\"']?[^\s:\"']{1,64}:(?P<secret>[^\s\"']{1,300})"),
    Uncompiled(r"\bsecret_id=(?P<secret>[0-9a-f]{8}-[0-9a-f\-]{27})"),
    Uncompiled(
        r"\b(?:vault|hcp|wandb|huggingface-cli|heroku|doppler)\s+(?:auth\s+)?login\s+(?:--\w+\s+)?(?P<secret>(?=\S{0,60}\d)[A-Za-z0-9._\-]{16,300})"
    ),
    Uncompiled(rf"\b(?:secret|secrets)\s+(?:set|create|put|add)\b{_REST}\s(?:--body|--value|--secret-string|-b)[\s=]{_VALUE}"),
    Uncompiled(r"(?i:secret|password|token|creds)[^\n|;]{0,100}<\(echo\s+(?:-n\s+)?(?P<secret>[^\s)$]{6,200})\)"),
    Uncompiled(rf"\bkeytool\b{_REST}\s-new\s+{_VALUE}"),
    Uncompiled(r"\bnet\s+user\s+\w{1,64}\s+(?P<secret>[^\s/*]\S{0,127})\s+/add"),
    Uncompiled(rf"\buser(?:add|mod)\b{_REST}\s-p\s+{_VALUE}"),
    Uncompiled(
        r"(?m)^[ \t]*(?:requirepass|masterauth|rootpw|pass|passwd|password|passphrase|auth_user_pass\s\S{1,64})[ \t]+"
        r"(?P<secret>(?=\S{0,60}\d)[^\s=:$<{]\S{4,127})[ \t]*$"
    ),
    Uncompiled(r":\s+PSK\s+\"(?P<secret>[^\"\n]{4,200})\""),
    Uncompiled(r"(?i:private-key|preshared-key|passin|passout)[\s=]+<\(echo\s+(?P<secret>[^\s)$]{8,200})\)"),
    Uncompiled(r"\bapi-key\s+store\s+\w{8,40}\s+(?P<secret>[A-Za-z0-9+/=]{16,300})"),
    Uncompiled(rf"\bconfig\s+set\s+--secret\s+\S{{1,100}}\s+{_VALUE}"),
    Uncompiled(r"\bnet\s+use\s[^\n|;]{0,200}?/user:\S{1,100}\s+(?P<secret>[^\s/]\S{0,127})"),
    Uncompiled(r"\bnet\s+use\s+(?:\w:\s+)?\\\\\S{1,200}\s+(?P<secret>[^\s/*]\S{2,127})\s+/user:"),
    Uncompiled(r"\bsmbclient\s+//\S{1,200}\s+(?P<secret>[^\s\-$]\S{2,127})"),
    Uncompiled(rf"\b[xw]?freerdp\b{_REST}\s/p:(?P<secret>\S{{1,127}})"),
    Uncompiled(
        r"\brabbitmqctl\s+(?:[\-\w]+\s+)?(?:add_user|change_password|authenticate_user)\s+\S{1,100}\s+(?P<secret>[^\s\-$]\S{0,127})"
    ),
    Uncompiled(r"\bhtpasswd\s+-\w{0,5}b\w{0,5}\s+\S{1,200}\s+\S{1,100}\s+(?P<secret>[^\s$]\S{0,127})"),
    Uncompiled(rf"\bcurl\b{_REST}\s(?:-E|--cert)[\s=][\"']?[^\s:\"']{{1,200}}:(?P<secret>[^\s\"'/\\]{{1,200}})"),
    Uncompiled(r"\bftp\b[^\n]{0,200}<<\s*\S{1,20}\n\s*user\s+\S{1,100}\s+(?P<secret>\S{1,127})"),
    Uncompiled(r"(?i:\bconnect\s+to\s+\S{1,100}\s+user\s+\S{1,100}\s+using\s+)[\"']?(?P<secret>[^\s\"';$]{1,127})"),
    Uncompiled(r"\bisql\s+\S{1,100}\s+\w{1,64}\s+(?P<secret>[^\s\-<|$]\S{0,127})"),
    Uncompiled(r"\binput_pw\s+(?P<secret>[^\s$]{1,127})"),
    Uncompiled(r"\bapi-key\s+store\s+\w{8,40}\s+(?P<secret>[^\s\-]\S{15,300})"),
    Uncompiled(r"\bactivate-refresh-token\s+\S{1,100}\s+(?P<secret>\S{16,400})"),
    Uncompiled(r"(?m)^[\w.\-*]{1,253}:(?:\d{4,5}|\*):[^:\s]{1,63}:[^:\s]{1,63}:(?P<secret>[^\s:/]{1,300})$"),
    Uncompiled(
        r"(?<=[\"'`\s])[\w.\-]{1,253}:(?:543[239]|6432):[^:\s]{1,63}:[^:\s]{1,63}:(?P<secret>(?=[^\s:/]{0,100}\d)[^\s:/\"'`]{4,300})"
    ),
    Uncompiled(r"\bmachine\s+\S{1,253}\s+login\s+\S{1,100}\s+password\s+(?P<secret>\S{1,300})"),
)
"""Each pattern has the secret in the group `secret`."""

SET_BY_NAME = re.compile(
    r"(?:\b(?:set|ENV|setx|setenv)|#define)\s+(?:-\w{1,3}\s+)?(?:[\w.\-/:]{0,100}:)?(?P<name>[\w.\-]{1,100})\s+(?P<value>'[^']*'|\"[^\"]*\"|[^\s\-=:;'\"(][^\s'\";]{7,})"
)
"""`aws configure set NAME VALUE`, `npm config set NAME VALUE`, `ENV NAME VALUE`."""
LISTED_OPTION = re.compile(r"[\"']--?(?P<name>[A-Za-z][\w.\-]{1,100})[\"']\s{0,4},\s{0,4}(?P<value>'[^'\-][^']*'|\"[^\"\-][^\"]*\")")
"""An option and its value in a printed list of arguments."""
