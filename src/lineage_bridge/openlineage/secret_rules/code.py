"""Secrets in source code and documents: arguments of functions, typed variables, and pairs of a name and a value."""

import re

_TEXT = r"(?:'[^'\n]*'|\"[^\"\n]*\")"
_CONSTRUCTORS = (
    r"getConnection|UsernamePasswordCredentials|Basic(?:AWS|Session)?Credentials|AwsBasicCredentials\.create|HTTPBasicAuth|HttpBasicAuth"
    r"|PasswordAuthentication|StorageSharedKeyCredential|AzureNamedKeyCredential|PlainTextAuthProvider|ClientSecretCredential|auth\s{0,3}=\s{0,3}"
)

CODE = (
    re.compile(
        rf"\b(?:{_CONSTRUCTORS})\((?:[^()\"']{{0,200}}{_TEXT}){{0,3}}?[^()\"']{{0,100}},\s{{0,8}}(?:\w{{1,40}}=)?[\"'](?P<secret>[^\"'\n]+)[\"']\s{{0,8}}\)"
    ),
    re.compile(r"\bFernet\(\s{0,8}b?[\"'](?P<secret>[^\"'\n]+)[\"']"),
)
"""Each has the secret in the group `secret`."""

CALLED = re.compile(
    r"\.(?:set|with|add|and)?_?(?P<name>(?i:password|passwd|passphrase|token|secret|secretkey|apikey|api_key|accesstoken|authtoken|access_token|auth_token"
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
DEFAULT = re.compile(r"\bvariable\s{1,4}\"(?P<name>[\w\-]{1,100})\"\s{0,4}\{[^{}]{0,500}?\bdefault\s{0,20}=\s{0,20}(?P<value>\"[^\"\n]*\")")
"""Terraform's variables."""
ENCODED = re.compile(r"(?:%22|%27)(?P<name>[\w.\-]{1,100})(?:%22|%27)(?:%20)?%3[Aa](?:%20)?(?:%22|%27)(?P<value>[^%\s\"'&]{1,1000})")
"""Members of JSON in a URL."""
