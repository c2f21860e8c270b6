"""Values that are not secrets, whatever their names: placeholders, references to where a secret is stored, and expressions of code."""

import re

MASK = "********"
"""The text that replaces a secret."""

_NO_VALUE = re.compile(
    r"(?:\w|\d{2,3}|\$\d{1,2}|@[a-z][\w\-]*(?:\.[\w\-]+)+@|(?:lang|language|locale|theme|timezone|currency)=[\w\-/]{1,20}|(?:string|id|int|boolean)[!?]|str|string|secretstr|text|varchar|char|int|bytes|none|null|nil|true|false|yes|no|required|optional|undefined|inherit|bool|integer|bigint|smallint|tinyint|long|double|float|decimal|numeric|number|timestamp\w{0,4}|date|datetime|binary|varbinary|bytea|blob|clob|uuid|jsonb?|array|struct|object|boolean|column|relation|hidden|masked|redacted"
    r"|x{4,}|[\W_]+|\[(?:redacted|hidden|masked|filtered)\]|read-host|(?:bearer|basic|token)\s{0,3}|(?:bearer|basic|token|apikey)\s{1,3}(?:[$<{%]|YOUR).*)\Z",
    re.IGNORECASE,
)
_VARIABLE = r"\$(?:env:)?(?:[A-Z_][A-Z0-9_]*|\w{0,60}(?i:pass|pwd|token|secret|key|cred)\w{0,60})"
_ELSEWHERE = (
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
"""Java login modules that take no password."""
_REFERENCE = re.compile(
    rf"\$\{{|\$\(|\{{\{{|{_VARIABLE}\Z|%[A-Za-z_]+%|<[\w \-]+>\Z|!(?:vault|secret|env|Ref|Sub|include)\b|{_ELSEWHERE}|(?:{_FORMATTED})\Z"
)
_WHOLE_REFERENCE = re.compile(
    rf"(?:\$\{{[^{{}}]*\}}|\$\([^()]*\)|\{{\{{[^{{}}]*\}}\}}|{_VARIABLE}|%[A-Za-z_]+%|<[\w \-]+>|{_FORMATTED})+"
    rf"|{_ELSEWHERE}|\d{{4}}-\d\d-\d\d(?:[T ][\d:.+Z\-]*)?|[a-z]{{2,20}}(?:/[a-z]{{2,20}}){{1,4}}"
    rf"|\[(?:REDACTED|HIDDEN|MASKED|FILTERED|hidden|MASK|PAD|CLS|SEP|UNK)\]|\*{{3,7}}|\*{{3,20}}\(redacted\)"
)
_FILE = re.compile(r"(?:file:)?~?(?:/[\w.\-]{1,100}){1,20}\.(?:json|pem|jks|p12|pfx|key|keytab|crt|cer|txt|ya?ml|properties|conf|xml|env)")
_CODE = re.compile(
    r"(?:self|this|cls|args|config|conf|cfg|settings|options|opts|params|props|env|os|sys|process|var|local|data|module|secrets|context|ctx"
    r"|conn|connection|credentials|creds|(?:aws|azurerm|azuread|google|random|tls|vault)_[a-z_]{1,60})(?:\.[A-Za-z_]\w{0,60}){1,6}"
)
_KEY_PART = re.compile(r"[A-Za-z0-9_\-]{40,}")
_LOOKUP = re.compile(
    r"env|environ|getpass|input|prompt|secrets?\b|lookup|vault|fetch|resolve|load|read|open|config|param|setting|property|variable|ref\b"
    r"|argument|hash|sha\d|md5|require|import|get\w{0,40}\Z|pop|setdefault|ask|\bvar\Z|encode|decode|bcrypt|crypt|\bcompile\Z",
    re.IGNORECASE,
)


def is_harmless(value: str) -> bool:
    """Whether a value in a text is a word for an absent value, is masked already, or refers to a secret or to the file that contains it."""
    return value.startswith(MASK) or bool(_NO_VALUE.match(value) or _REFERENCE.match(value) or _FILE.fullmatch(value))


def is_reference(value: str) -> bool:
    """Whether a whole value only refers to a secret: `${DB_PASSWORD}`, `{{ var.value.token }}`, `$TOKEN`, `/etc/keys/etl.json`."""
    if value.isalnum():
        return False  # each reference has a sign
    if value[:1] in "\"'" and value[-1:] == value[:1]:
        value = value[1:-1]
    return bool(_WHOLE_REFERENCE.fullmatch(value) or _FILE.fullmatch(value) or _KEYTAB.fullmatch(value))


def begins_reference(value: str) -> bool:
    """Whether the beginning of a value is a reference."""
    return bool(_REFERENCE.match(value))


def is_expression(name: str, value: str) -> bool:
    """Whether an unquoted value is an expression of code: `config.password`, or a variable or parameter with the setting's own name."""
    last = name.rpartition(".")[2]
    return (
        value.removeprefix(":") in {name, last}
        or bool(_CODE.fullmatch(value))
        or (value.endswith(f".{last}") and value.replace(".", "").isidentifier())
    )


def extends(name: str, value: str) -> bool:
    """Whether a value is a longer form of a setting's own name: `password` and `password_hash2`."""
    return value.startswith(f"{name}_") and bool(_IDENTIFIER_LIKE.fullmatch(value))


def looks_up(function: str) -> bool:
    """Whether a function of this name finds a secret elsewhere or derives another value: `os.getenv`, `getpass`, `hashlib.sha256`."""
    return bool(_LOOKUP.search(function))


def is_key_like(value: str) -> bool:
    """Whether a value can be a key or a password and not a word: letters with digits, and no spaces."""
    return len(value) >= 8 and not any(map(str.isspace, value)) and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def is_random(value: str) -> bool:
    """Whether a value is unlikely to be a word, such as the name of a classification."""
    return is_key_like(value) and (len(value) >= 20 or (value.lower() != value and value.upper() != value))


def is_key_part(value: str) -> bool:
    """Whether a value can be a number of a JSON Web Key: URL-safe base64 with letters of both cases."""
    return bool(_KEY_PART.fullmatch(value)) and value.lower() != value != value.upper()


_PLAIN = re.compile(
    r"\d{4}-\d\d-\d\d.*|[\d.]+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|.*://.*|[./~].*|[\w.+\-]+@[\w\-]+\.[\w.\-]+"
    r"|[A-Za-z]\w*\([^()]*\),?|(?:sha|md|aes|rsa)-?\d+[:\-].*|arn:.*",
    re.IGNORECASE | re.DOTALL,
)
"""Dates, numbers, UUIDs, addresses, paths, types: they have letters and digits, but do not look like secrets."""
_IDENTIFIER_LIKE = re.compile(
    r"[a-z]{2,}(?:[_.\-/][a-z]+\d{0,4}|[_.\-/]\d{1,4})*\d{0,3}|[A-Z][A-Z_]*\d{0,4}|[A-Z]?[a-z]+(?:[A-Z][a-z]+){0,5}\d?"
)
_SCHEME = re.compile(r"(?i:basic|bearer|token|apikey)\s+(?P<rest>\S+)")
_HEX = re.compile(r"(?=.*\d)(?=.*[a-fA-F])[0-9a-fA-F]{16,}|[0-9]{20,}")
_KEY = re.compile(r"(?=.*\d)(?=.*[A-Za-z])(?:[A-Za-z0-9+/_\-.~]{16,}={0,2}|[A-Za-z0-9+/\s]{64,}={0,2})")
_RANDOM_KEY = re.compile(r"[A-Za-z0-9+/_\-]{24,4096}={0,2}")
_PHRASE = re.compile(r"[A-Za-z]{3,}(?:[ \-][A-Za-z0-9]{3,}){3,23}")
_SHORTEST, _LONGEST = 7, 4096


def looks_secret(value: str) -> bool:
    """Whether a value looks like a password or a key and nothing else: letters, digits and symbols, and no date, name or address."""
    if not _SHORTEST <= len(value) <= _LONGEST:
        return False
    value = value.strip()
    if scheme := _SCHEME.fullmatch(value):
        value = scheme["rest"]
    if len(value) < _SHORTEST or any(map(str.isspace, value)) or is_reference(value) or value.startswith(MASK) or _PLAIN.fullmatch(value):
        return False
    if _HEX.fullmatch(value):
        return True
    if not any(map(str.isalpha, value)) or not any(map(str.isdigit, value)) or _IDENTIFIER_LIKE.fullmatch(value):
        return False
    is_mixed = value.lower() != value != value.upper()
    return is_mixed or any(not sign.isalnum() and sign not in "_-./:" for sign in value) or len(value) >= 16


def is_key(value: str) -> bool:
    """Whether a value looks like a key: long and random, in hexadecimal digits or in base64."""
    if not _SHORTEST <= len(value) <= _LONGEST:
        return False
    value = value.strip()
    if is_reference(value) or value.startswith(MASK) or _PLAIN.fullmatch(value) or _IDENTIFIER_LIKE.fullmatch(value):
        return False
    return bool(_HEX.fullmatch(value)) or (bool(_KEY.fullmatch(value)) and (value.lower() != value != value.upper() or len(value) >= 24))


def is_random_key(value: str) -> bool:
    """Whether a value looks like a key in base64: long, with digits and letters of both cases, and not a name."""
    if len(value) > _LONGEST:
        return False
    value = value.strip()
    is_long = bool(_RANDOM_KEY.fullmatch(value)) and value.lower() != value != value.upper() and any(map(str.isdigit, value))
    return is_long and not _IDENTIFIER_LIKE.fullmatch(value) and not is_reference(value)


def is_phrase(value: str) -> bool:
    """Whether a value looks like a generated phrase of at least four words."""
    return (
        len(value) <= _LONGEST
        and bool(_PHRASE.fullmatch(value.strip()))
        and (value.count("-") >= 3 or len(value.split()) >= 6 or any(map(str.isdigit, value)))
    )


def is_code_number(value: str) -> bool:
    """Whether a value is a number such as a one-time password or a PIN."""
    return value.isascii() and value.isdigit() and 4 <= len(value) <= 8
