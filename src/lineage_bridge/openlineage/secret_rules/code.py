"""Secrets in source code and documents: arguments of functions, typed variables, and pairs of a name and a value."""

import re
from functools import lru_cache

from lineage_bridge.openlineage.required_text import Uncompiled
from lineage_bridge.openlineage.secret_rules.commands import LISTED_OPTION, SET_BY_NAME
from lineage_bridge.openlineage.secret_rules.names import names_secret

_TEXT = r"(?:'[^'\n]*'|\"[^\"\n]*\")"
_CONSTRUCTORS = (
    r"getConnection|UsernamePasswordCredentials|Basic(?:AWS|Session)?Credentials|AwsBasicCredentials\.create|HTTPBasicAuth|HttpBasicAuth"
    r"|PasswordAuthentication|PlainCredentials|NetworkCredential|basicAuth|basic_auth|SetBasicAuth|BasicAuthentication|Credentials\.basic|login|StorageSharedKeyCredential|AzureNamedKeyCredential|PlainTextAuthProvider|ClientSecretCredential|\w{0,20}(?:auth|creds|credentials)\s{0,3}=\s{0,3}"
)

_WORD = r"[\"'](?P<secret>[^\"'\n]+)[\"']"
_THIRD = r"pymysql\.connect|MySQLdb\.connect|mysqli(?:_connect)?|mysql_connect|new\s{1,3}PDO|DBI->connect|keyring\.set_password"
CODE = (
    Uncompiled(rf"\b(?:{_THIRD})\(\s{{0,8}}{_TEXT}\s{{0,3}},\s{{0,8}}{_TEXT}\s{{0,3}},\s{{0,8}}{_WORD}"),
    Uncompiled(rf"\b(?:cx_Oracle|oracledb)\.connect\(\s{{0,8}}[\"'][^\"'\n/@]{{1,100}}[\"']\s{{0,3}},\s{{0,8}}{_WORD}"),
    Uncompiled(rf"\bjwt\.(?:encode|decode|sign|verify)\(\s{{0,8}}[^,()\"']{{1,100}},\s{{0,8}}(?:key\s{{0,3}}=\s{{0,3}})?{_WORD}"),
    Uncompiled(rf"\b(?:hmac\.new\(|HMAC\d{{3}}\(|SecretKeySpec\(|login\(\s{{0,3}}key\s{{0,3}}=)\s{{0,8}}b?{_WORD}"),
    Uncompiled(
        r"(?i:\b(?:pass\w{0,6}|secret|token)s)\s{0,3}=\s{0,3}[\[({]\s{0,8}[\"'](?P<secret>(?=[^\"'\n]{0,60}\d)[^\"'\n]{6,300}[\"'](?:\s{0,3},\s{0,8}[\"'][^\"'\n]{1,300}[\"']){0,20})\s{0,3}[\])}]"
    ),
    Uncompiled(
        r"(?i:\b(?:auth|creds|credentials))\s{0,3}=\s{0,3}\(\s{0,3}[\"'][^\"'\n]{1,64}[\"']\s{0,3},\s{0,3}[\"'](?P<secret>[^\"'\n]{1,300})[\"']\s{0,3}\)"
    ),
    Uncompiled(
        r"\b(?i:[\w.]{0,40}(?:environ\.get|getenv|env)\(\s{0,3}[\"'][\w\-]{0,40}(?:token|secret|passw\w{0,4}|key)[\"']\s{0,3}\))\s{1,3}(?:or|\|\||\?\?)\s{1,3}[\"'](?P<secret>[^\"'\n]{6,300})[\"']"
    ),
    Uncompiled(r"\[\](?:string|byte)\{\"(?P<secret>(?=[^\"\n]{0,100}\d)(?=[^\"\n]{0,100}[A-Z])[A-Za-z0-9_\-+/=]{24,300})\""),
    Uncompiled(
        r"\b(?:secrets\.put|put_secret\w{0,20}|create_secret|secret_manager\w{0,20})\([^()\n]{0,200}\b(?:string_value|SecretString|payload|value)\s{0,3}=\s{0,3}[\"'](?P<secret>[^\"'\n]{1,300})[\"']"
    ),
    Uncompiled(
        rf"\bjwt\.(?:encode|decode|sign|verify)\(\s{{0,8}}\{{[^{{}}\n]{{0,300}}\}}\s{{0,3}},\s{{0,8}}(?:key\s{{0,3}}=\s{{0,3}})?{_WORD}"
    ),
    Uncompiled(rf"\b(?:AES|DES3?|Blowfish|ChaCha20|ARC4)\.new\(\s{{0,8}}b?{_WORD}"),
    Uncompiled(rf"\bpbkdf2(?:_hmac|Sync)?\(\s{{0,8}}(?:{_TEXT}\s{{0,3}},\s{{0,8}})?b?{_WORD}"),
    Uncompiled(
        rf"\.connect\(\s{{0,8}}{_TEXT}\s{{0,3}},\s{{0,8}}(?:\d{{1,5}}\s{{0,3}},\s{{0,8}})?{_TEXT}\s{{0,3}},\s{{0,8}}{_WORD}\s{{0,8}}[,)]"
    ),
    Uncompiled(
        rf"(?i:\b\w{{0,30}}(?:pwd|pass\w{{0,6}}|secret|token|_key))\s{{0,3}}=\s{{0,3}}base64\.\w{{0,3}}64decode\(\s{{0,8}}b?{_WORD}"
    ),
    Uncompiled(rf"[\"']--?[\w\-]{{0,30}}(?i:pass\w{{0,6}}|token|secret|api-?key)[\"'][^()\n]{{0,120}}\bdefault\s{{0,3}}=\s{{0,3}}{_WORD}"),
    Uncompiled(r"\"(?P<secret>[^\"\n]{3,300})\"\.toCharArray\(\)"),
    Uncompiled(r"\bClient\([^()\"']{1,60},\s{0,3}[\"'](?P<secret>[0-9a-f]{32})[\"']"),
    Uncompiled(r"(?<![\w.\-])[\w.\-]{1,64}:(?P<secret>[^\s/@\"']{1,128})@(?:tcp|unix)\("),
    Uncompiled(r"\bcookies?\s{0,3}[=:]\s{0,3}\{[^{}]{0,200}?[\"'][\w.\-]{1,64}[\"']\s{0,3}:\s{0,3}[\"'](?P<secret>[^\"']{12,4000})[\"']"),
    Uncompiled(r"(?i:\b\w{0,30}(?:token|pass\w{0,6}|secret|_key))=\$\(echo\s{1,3}(?:-n\s{1,3})?(?P<secret>[^\s)$\"']{8,300})\)"),
    Uncompiled(r"(?i:%3B(?:pwd|password)%3D)(?P<secret>(?:(?!%3[Bb])[^\s\"'&;]){1,300})"),
    Uncompiled(r"ConvertTo-SecureString\s{1,3}(?:-String\s{1,3})?" + _WORD),
    Uncompiled(
        rf"\b(?:{_CONSTRUCTORS})\((?:[^()\"']{{0,200}}{_TEXT}){{0,3}}?[^()\"']{{0,100}},\s{{0,8}}(?:\w{{1,40}}=)?[\"'](?P<secret>[^\"'\n]+)[\"']\s{{0,8}}\)"
    ),
    Uncompiled(r"\bFernet\(\s{0,8}b?[\"'](?P<secret>[^\"'\n]+)[\"']"),
)
"""Each pattern has the secret in the group `secret`."""

CALLED = re.compile(
    r"(?:\.(?:set|with|add|and)?|\b(?:set|with))_?(?P<name>(?i:password|passwd|passphrase|token|secret|secretkey|apikey|api_key|accesstoken|authtoken|access_token|auth_token"
    r"|clientsecret|client_secret|privatekey|sharedkey|accountkey))\(\s{0,8}(?P<value>'[^'\n]*'|\"[^\"\n]*\")\s{0,8}\)"
)
"""`dataSource.setPassword("x")`."""
TYPED = re.compile(
    rf"(?<![\w.\-])(?P<name>[A-Za-z_][\w.]{{0,300}})\s{{0,4}}:\s{{0,4}}[A-Za-z][\w.\[\]|]{{0,60}}\s{{0,4}}=\s{{0,4}}(?P<value>{_TEXT})"
)
"""`api_key: str = "x"`."""
NAMED_VALUE = re.compile(
    r"\b(?:name|key)\\?[\"']?\s{0,4}[=:]\s{0,4}\\?[\"']?(?P<name>[\w.\-]{1,300})\\?[\"']?\s{0,4},?\s{0,40}\\?[\"']?\bvalue\\?[\"']?\s{0,4}[=:]\s{0,4}\\?"
    r"(?P<value>'[^'\n]*'|\"[^\"\n\\]*(?:\\?\")|[^\s\"',;<>{}\[\]]+)"
)
"""`<property name="password" value="x"/>`, `- name: DB_PASSWORD`, `  value: x`."""
MEMBER = re.compile(
    r"[\"'](?P<name>[\w.\-]{1,100})\\?[\"']\s{0,4}:\s{0,4}\{\s{0,40}\\?[\"'](?:value|plaintext)\\?[\"']\s{0,4}:\s{0,4}(?P<value>\"[^\"\n]*\")"
)
"""Parameters of Azure templates."""
PARAMETER = re.compile(r"\bparam\s{1,4}(?P<name>\w{1,100})\s{1,4}string\s{0,4}=\s{0,4}(?P<value>'[^'\n]*')")
"""Parameters in Bicep files."""
DEFAULT = re.compile(
    r"\b(?:variable|output)\s{1,4}\"(?P<name>[\w\-]{1,100})\"\s{0,4}\{[^{}]{0,500}?\b(?:default|value)\s{0,20}=\s{0,20}(?P<value>\"[^\"\n]*\")"
)
"""Terraform variables."""
FORM_DATA = re.compile(r"name=\"(?P<name>[\w.\-]{1,100})\"(?:\\r|\r)?\n(?:\\r|\r)?\n(?P<value>[^\n\\\r]{1,300})")
"""Fields of `multipart/form-data`."""
INVALID = re.compile(r"\n(?P<name>\w{1,100})\n[ \t]{1,8}[^\n]{0,200}?input_value=(?P<value>'[^'\n]*')")
"""Error messages of Pydantic."""
ENCODED = re.compile(r"(?:%22|%27)(?P<name>[\w.\-]{1,100})(?:%22|%27)(?:%20)?%3[Aa](?:%20)?(?:%22|%27)(?P<value>[^%\s\"'&]{1,1000})")
"""JSON members in a URL."""
ATOM = re.compile(r"(?<![\w:]):(?P<name>[a-z_]\w{0,60}),\s{0,4}(?P<value>\"[^\"\n]*\")")
"""Elixir's `put_env(:shop, :password, "x")`."""
MARKED_UP = re.compile(r"`(?P<name>[\w.\-]{1,300})`\s(?:to|is|=|:)\s(?P<value>`[^`\n]+`)")
"""Names and values in Markdown."""
LABELLED = re.compile(r"(?i:name|key|id)=\"(?P<name>[\w.\-]{1,100})\"[^<>]{0,200}>(?P<value>[^<>]+)<")
"""`<Property Name="Password" Sensitive="1">x</Property>`."""
QUOTED_WHOLE = re.compile(r"(?P<quote>[\"'])(?P<name>[A-Z][A-Z0-9_]{1,100})=(?P<value>(?!\\{1,8}n)[^\"'\n]*)(?P=quote)")
"""`-e "DB_PASSWORD=x&y"`."""
LOGIN_USERS = re.compile(r"\buser_[\w\-]{1,60}\s?=\s?\\{0,2}[\"'](?P<value>[^\"'\\]{1,300})")
"""Users and passwords of Java login modules."""

_OPTION = re.compile(
    r"(?<![\w\-])(?P<name>--?[A-Za-z][\w.\-]{1,100})(?:\s+)(?!(?:and|for|if|in|is|on|or|to|when|with)\s)(?P<value>'[^']*'|\"[^\"]*\"|[^\s\-'\"|&;][^\s'\"|;]*)"
)
_ELEMENT = re.compile(r"<(?P<name>[\w.:\-]{1,100})(?:\s[^<>]{0,300})?>(?:<!\[CDATA\[)?(?P<value>[^<>\]]+)(?:\]\]>)?</")
_PROPERTY = re.compile(r"<name>\s*(?P<name>[\w.\-]{1,300})\s*</name>\s*<value>(?P<value>[^<>]+)</value>")
_LINE = re.compile(
    r"(?m)^[ \t]+(?P<name>[\w.\-]{1,300}):[ \t]+"
    r"(?P<value>(?=[^\n]{0,300}\d)[^\s\"'{}\[\]&*!|>#$][^\n\"'{}\[\]#]{0,300} [^\n\"'{}\[\]#]{1,300})$"
)
"""An indented line of YAML, whose value contains spaces."""
NAMED = (
    _OPTION,
    _ELEMENT,
    _PROPERTY,
    SET_BY_NAME,
    LISTED_OPTION,
    CALLED,
    TYPED,
    NAMED_VALUE,
    DEFAULT,
    MEMBER,
    PARAMETER,
    ENCODED,
    ATOM,
    MARKED_UP,
    LABELLED,
    QUOTED_WHOLE,
    FORM_DATA,
    INVALID,
    _LINE,
)
"""Each pattern has the name of a setting in the group `name`, and its value in `value`."""

_WORD_BACKWARDS = re.compile(r"\s?[\w.]*")
_SETS = re.compile(
    r"(?:set|define|put|option|config|conf|property|env|header|add|param|parameter|credential|secret|values)\w{0,12}\s?\Z", re.IGNORECASE
)
_IS_TEXT = re.compile(r"(?:form|rename|label|select|replace|columns?)[\w.]{0,20}\s?\Z", re.IGNORECASE)
_LONGEST_WORD = 40
_CACHED = 8192
_APOSTROPHE = re.compile(r"(?<=[A-Za-z])'(?=[a-z])")
_BEFORE_PROMPT = 200
_ATTRIBUTE = re.compile(r"[A-Za-z_]{2,60}(?:\.[A-Za-z_]{2,60}){1,5}")
_WORD_OF_PROGRAM = re.compile(r"[a-z]{1,30}(?:_[a-z]{1,30}){0,4}")
_SHORTEST_TOKEN = 16
_CALLED_LIKE_SECRET = re.compile(r"(?:[A-Za-z]{0,30}_){1,6}(?:token|secret|key|pass(?:word|wd|phrase)?|pwd|credentials?)")
_PORT = re.compile(r"\d{1,5}(?:/[^\s@\"']*)?(?=[\s\"']|\Z)")


def is_prompt(text: str, found: re.Match[str], quote: str) -> bool:
    """Whether the quote after a name closes the string that contains the name, as in `getpass("Password: ")`."""
    if quote not in ("'", '"') or quote in found["sign"]:
        return False
    line = text[max(0, text.rfind("\n", 0, found.start()), found.start() - _BEFORE_PROMPT) : found.start()]
    return (line.count(quote) - line.count(f"\\{quote}") - len(_APOSTROPHE.findall(line)) * (quote == "'")) % 2 == 1


def called(text: str, at: int) -> tuple[bool, bool]:
    """Whether a call sets the variable that its first argument names. Also returns whether its arguments are sentences."""
    word = _WORD_BACKWARDS.match(text[max(0, at - _LONGEST_WORD) : at][::-1])
    return _meaning(word[0][::-1] if word else "")


@lru_cache(_CACHED)
def _meaning(word: str) -> tuple[bool, bool]:
    return bool(_SETS.search(word)), bool(_IS_TEXT.search(word))


def is_port(text: str, found: re.Match[str]) -> bool:
    """Whether the name before a colon is the host of a URL, followed by its port. (If an `@` follows, they are user and password
    instead.)
    """
    return text[max(0, found.start() - 3) : found.start()] == "://" and bool(_PORT.match(text, found.end()))


def is_secrets_name(value: str) -> bool:
    """Whether a value is the name of a secret, as under `secretKey` of Kubernetes."""
    return value.isalpha() and value.islower() and names_secret(value)


def is_variable(text: str, found: re.Match[str], end: int) -> bool:
    """Whether the unquoted value after a name, up to `end`, is a variable, an attribute, a constant or a type of a program.

    Blanks around the sign of assignment show it, or a list of arguments, or a comparison: `password == other_password`.
    """
    value, sign = text[found.end() : end].rstrip(":"), found["sign"]
    if not value.replace(".", "").replace("_", "").isalpha():
        return False
    is_argument = text[end : end + 1] in (",", ")")
    if sign.startswith(":"):
        return is_argument and value.lstrip("_")[:1].isupper() and "(" in text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
    if "==" in sign or (sign[:1] == " " and sign[-2:] == "= "):
        is_token = found["name"].lower().endswith("token") and len(value) < _SHORTEST_TOKEN
        is_same = "==" in sign and value.endswith(f"_{found['name'].rpartition('.')[2]}")
        return is_same or is_token or ("_" in value and value.isupper()) or _names_variable(value)
    return is_argument and _names_variable(value)


def _names_variable(value: str) -> bool:
    return bool(_ATTRIBUTE.fullmatch(value) or _CALLED_LIKE_SECRET.fullmatch(value))


def takes_word(function: str, value: str) -> bool:
    """Whether a call is a method that takes a word, and makes no secret of it: `stream.push("heading_open")`."""
    return "." in function and bool(_WORD_OF_PROGRAM.fullmatch(value))
