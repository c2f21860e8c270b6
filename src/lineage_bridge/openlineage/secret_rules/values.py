"""Values that are no secrets, whatever their name says: placeholders, references to where a secret is, and expressions of code."""

import re

MASK = "********"
"""The text that replaces a secret."""

_NO_VALUE = re.compile(
    r"(?:str|string|secretstr|text|varchar|char|int|bytes|none|null|nil|true|false|yes|no|required|optional|undefined|hidden|masked|redacted"
    r"|x{4,}|[\W_]+|\[(?:redacted|hidden|masked|filtered)\]|read-host|(?:bearer|basic|token)\s{0,3}|(?:bearer|basic|token|apikey)\s{1,3}(?:[$<{%]|YOUR).*)\Z",
    re.IGNORECASE,
)
_VARIABLE = r"\$(?:env:)?(?:[A-Z_][A-Z0-9_]*|\w{0,60}(?i:pass|pwd|token|secret|key|cred)\w{0,60})"
_PLACE = (
    r"(?:op|(?:ref\+)?(?:hashi)?vault|(?:ref\+)?(?:awssm|awssecrets|gcpsecrets|azurekeyvault|ssm)|keyring)://[\w./#?=:\-]+|vault:[\w./\-]+(?:#[\w.\-]+)?"
    r"|arn:aws[\w\-]*:(?:secretsmanager|ssm|kms):[\w:/.+=@\-]+|@Microsoft\.KeyVault\([^()]*\)|projects/[\w\-]+/secrets/[\w\-]+(?:/versions/\w+)?"
    r"|(?:env|fd):[A-Z_0-9]+|file:/[\w./\-]+|cat\s+/[\w./\-]+|!(?:vault|secret|env|Ref|Sub|include)\s[\w./#\-]+|id=[\w.\-]+,src=\S+"
    r"|/(?:data|etc|home|mnt|opt|root|run|srv|tmp|usr|var)(?:/[\w.\-]+)+"
)
_IDENTIFIER = r"(?:[a-z_]{1,40}\d?|[A-Z_]{1,40}\d?|[a-z]{1,20}(?:[A-Z][a-z]{1,20}){1,4})"
_FORMATTED = rf"\{{(?:\d|{_IDENTIFIER}(?:\.{_IDENTIFIER}){{0,4}})?\}}|%s|%\(\w{{1,60}}\)s"
_KEYTAB = re.compile(
    r"[\w.$]{1,200}LoginModule\s+\w+(?:\s+(?:useKeyTab|keyTab|principal|storeKey|useTicketCache|ticketCache|serviceName|debug|renewTGT|doNotPrompt"
    r"|refreshKrb5Config|isInitiator|aws(?:Profile|Role|Sts|Debug|Max)\w{0,20})\s?=\s?(?:\"[^\"]*\"|[^\s;\"]+))*\s*;?"
)
"""Java's login modules that take no password."""
_REFERENCE = re.compile(
    rf"\$\{{|\$\(|\{{\{{|{_VARIABLE}\Z|%[A-Za-z_]+%|<[\w \-]+>\Z|!(?:vault|secret|env|Ref|Sub|include)\b|{_PLACE}|(?:{_FORMATTED})\Z"
)
_WHOLE_REFERENCE = re.compile(
    rf"(?:\$\{{[^{{}}]*\}}|\$\([^()]*\)|\{{\{{[^{{}}]*\}}\}}|{_VARIABLE}|%[A-Za-z_]+%|<[\w \-]+>|{_FORMATTED})+"
    rf"|{_PLACE}|\[(?:REDACTED|HIDDEN|MASKED|FILTERED|hidden)\]|\*{{3,7}}"
)
_FILE = re.compile(r"(?:file:)?~?(?:/[\w.\-]{1,100}){1,20}\.(?:json|pem|jks|p12|pfx|key|keytab|crt|cer|txt|ya?ml|properties|conf|xml|env)")
_CODE = re.compile(
    r"(?:self|this|cls|args|config|conf|cfg|settings|options|opts|params|props|env|os|sys|process|var|local|data|module|secrets|context|ctx"
    r"|conn|connection|credentials|creds)(?:\.[A-Za-z_]\w{0,60}){1,6}"
)
_KEY_PART = re.compile(r"[A-Za-z0-9_\-]{40,}")
_LOOKUP = re.compile(
    r"env|environ|getpass|input|prompt|secrets?\b|lookup|vault|fetch|resolve|load|read|open|config|param|setting|property|variable|ref\b"
    r"|argument|hash|sha\d|md5|require|import|get\w{0,40}\Z|pop|setdefault|ask|\bvar\Z|encode|decode|bcrypt|crypt",
    re.IGNORECASE,
)


def is_harmless(value: str) -> bool:
    """Whether a value in a text is a word for no value, masked already, a reference to a secret, or the file that contains it."""
    return value.startswith(MASK) or bool(_NO_VALUE.match(value) or _REFERENCE.match(value) or _FILE.fullmatch(value))


def is_reference(value: str) -> bool:
    """Whether a whole value only refers to a secret: `${DB_PASSWORD}`, `{{ var.value.token }}`, `$TOKEN`, `/etc/keys/etl.json`."""
    if value[:1] in "\"'" and value[-1:] == value[:1]:
        value = value[1:-1]
    return bool(_WHOLE_REFERENCE.fullmatch(value) or _FILE.fullmatch(value) or _KEYTAB.fullmatch(value))


def begins_reference(value: str) -> bool:
    """Whether a value begins as a reference."""
    return bool(_REFERENCE.match(value))


def is_expression(name: str, value: str) -> bool:
    """Whether a value without quotes is an expression of code: `config.password`, or a variable of the setting's own name."""
    last = name.rpartition(".")[2]
    return value in {name, last} or bool(_CODE.fullmatch(value)) or (value.endswith(f".{last}") and value.replace(".", "").isidentifier())


def looks_up(function: str) -> bool:
    """Whether a function of this name finds a secret elsewhere or derives another value: `os.getenv`, `getpass`, `hashlib.sha256`."""
    return bool(_LOOKUP.search(function))


def is_key_like(value: str) -> bool:
    """Whether a value can be a key or a password, and no word: letters with digits, and no spaces."""
    return len(value) >= 8 and not any(map(str.isspace, value)) and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def is_random(value: str) -> bool:
    """Whether a value can hardly be a word of people: what a classification would not say."""
    return is_key_like(value) and (len(value) >= 20 or (value.lower() != value and value.upper() != value))


def is_key_part(value: str) -> bool:
    """Whether a value can be a number of a JSON Web Key: in base64 for URLs, with letters of both cases."""
    return bool(_KEY_PART.fullmatch(value)) and value.lower() != value != value.upper()
