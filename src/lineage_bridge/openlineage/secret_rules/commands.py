"""Secrets in command lines of known programs, as text or as printed lists of arguments."""

import re

_REST = r"[^\n|;]{0,200}?"
_VALUE = r"(?P<secret>'[^']+'|\"[^\"]+\"|[^\s\-'\"][^\s'\"]*)"
_FIRST = r"[\s'\"]"
_CLIENTS_WITH_A_PASSWORD = (
    (r"redis-cli|valkey-cli", "a"),
    (r"sqlcmd|bcp|unzip|zip", "P"),
    (r"docker\s+login|podman\s+login|az\s+login|mongo\w{0,10}|beeline|sshpass|impala-shell", "p"),
    (r"ldap(?:search|add|modify|delete|passwd|whoami|compare)", "w"),
)
_MYSQL = r"(?:mysql|mariadb)\w{0,10}(?:-dump)?"
_ORACLE = r"(?i:sqlplus|sqlldr|sqlcl|expdp|impdp|exp|imp|rman|connect|conn)"

COMMANDS = (
    *(re.compile(rf"\b(?:{names})\b{_REST}\s-{option}\s*{_VALUE}") for names, option in _CLIENTS_WITH_A_PASSWORD),
    re.compile(rf"\b{_MYSQL}\b{_REST}{_FIRST}-p(?P<secret>'[^']+'|\"[^\"]+\"|[^\s\-'\"][^\s'\"]*)"),
    re.compile(rf"\b7za?\s{_REST}\s-p(?P<secret>'[^']+'|\"[^\"]+\"|[^\s\-'\"][^\s'\"]*)"),
    re.compile(
        r"(?<![\w\-])(?:-u|-U|--user|--proxy-user)(?:\s{1,3}|=)?[\"']?(?!\d+:\d+\b|[\w+\-]{1,30}:(?:[\w+\-]{1,30}:)?//)"
        r"[^\s:\"'@/\-$][^\s:\"'@/]{0,63}:(?P<secret>[^\s\"']{1,300})"
    ),
    re.compile(rf"\bhttps?\b{_REST}\s(?:-a|--auth)[\s=][\"']?[^\s:\"']{{1,64}}:(?P<secret>[^\s\"']{{1,300}})"),
    re.compile(rf"\bcurl\b{_REST}\s(?:-b|--cookie)[\s=][\"']?[\w.\-]{{1,64}}=(?P<secret>[^\s\"';]{{1,4000}})"),
    re.compile(r"\s(?:-U|--user)[\s=][\"']?[\w.\\]{1,64}%(?P<secret>[^\s\"']{1,300})"),
    re.compile(rf"\blftp\b{_REST}\s(?:-u|--user)\s[\w.\-]{{1,64}},(?P<secret>[^\s\"']{{1,300}})"),
    re.compile(rf"\b{_ORACLE}\s+(?:-\w+\s+)?(?i:userid=)?\w{{1,64}}/(?P<secret>[^\s@/]{{1,128}})@"),
    re.compile(r"(?m)^\s*\.(?i:logon)\s+[\w.\-]{1,100}/[\w.\-]{1,64},(?P<secret>[^\s;]{1,128})"),
    re.compile(
        r"\becho\s+(?:-n\s+)?(?P<secret>'[^'|]+'|\"[^\"|$]+\"|[^\s'\"|$]+)\s*\|\s*"
        r"(?:kinit\b|sudo\s+-S|gpg\b|chpasswd|[^\n|;]{0,100}--password-stdin)"
    ),
    re.compile(r"\bapi-key\s+store\s+\w{8,40}\s+(?P<secret>[^\s\-]\S{15,300})"),
    re.compile(r"\bactivate-refresh-token\s+\S{1,100}\s+(?P<secret>\S{16,400})"),
    re.compile(r"(?m)^[\w.\-*]{1,253}:(?:\d{4,5}|\*):[^:\s]{1,63}:[^:\s]{1,63}:(?P<secret>[^\s:/]{1,300})$"),
    re.compile(r"\bmachine\s+\S{1,253}\s+login\s+\S{1,100}\s+password\s+(?P<secret>\S{1,300})"),
)
"""Each has the secret in the group `secret`."""

SET_BY_NAME = re.compile(
    r"\b(?:set|ENV|setx)\s+(?:[\w.\-/:]{0,100}:)?(?P<name>[\w.\-]{1,100})\s+(?P<value>'[^']*'|\"[^\"]*\"|[^\s\-=:;'\"(][^\s'\";]{7,})"
)
"""`aws configure set NAME VALUE`, `npm config set NAME VALUE`, `ENV NAME VALUE`."""
LISTED_OPTION = re.compile(r"[\"']--?(?P<name>[A-Za-z][\w.\-]{1,100})[\"']\s{0,4},\s{0,4}(?P<value>'[^'\-][^']*'|\"[^\"\-][^\"]*\")")
"""An option and its value in a printed list of arguments."""
_LOGIN_OPTIONS = frozenset(("-u", "-U", "--user", "-a", "--proxy-user"))
_LOGIN = re.compile(r"[^\s:/$]{1,64}:(?P<secret>(?!//)[^\s$][^\s]{0,300})")
_ATTACHED = re.compile(r"-p(?P<secret>.{1,300})")
_ATTACHING = re.compile(rf"(?:.*/)?{_MYSQL}")


def argument_secret(program: str, before: str, argument: str) -> str:
    """The secret in an argument that follows another one: in `-u user:x`, and in MySQL's `-px`; empty if there is none."""
    found = _LOGIN.fullmatch(argument) if before in _LOGIN_OPTIONS and not argument.replace(":", "").isdigit() else None
    if not found and argument.startswith("-p") and _ATTACHING.fullmatch(program):
        found = _ATTACHED.fullmatch(argument)
    return found["secret"] if found else ""
