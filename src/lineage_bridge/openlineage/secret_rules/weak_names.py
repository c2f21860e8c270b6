"""Names that denote a secret only if the value looks like one: `pin`, `seed`, `aes_key`, and words with several meanings."""

import re
from functools import lru_cache

from lineage_bridge.openlineage.secret_rules.values import is_code_number, is_key, is_phrase, is_random_key, looks_secret

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+")
_QUALIFIERS = frozenset(
    ("prod", "production", "staging", "stage", "dev", "test", "qa", "uat", "live", "sandbox", "old", "new", "current", "backup", "v", "db")
)
"""Last words that say which of several secrets it is."""
_KEY_OWNERS = (
    "aes|backup|bot|client|cloud|consumer|crypt|data|database|db|des|device|enc|encrypt|gemini|google|gcp|github|mail|mailgun|maps|mistral"
    "|openai|anthropic|partner|project|props|root|s3|sec|sendgrid|server|service|stripe|twilio|user|vault|wallet|geheime?r?|secreta|segreta"
)
_KEY_WORDS = "schluessel|schlüssel|nyckel|sleutel|clave|cle|clé|chave|chiave|klucz|anahtar|avain|klyuch|kunci|kulcs|klic|klíč|ключ"
_CODES = re.compile(
    r"(?:\A|\.)(?:pin|otp|tan|cvv|cvc|(?:otp|totp|mfa|tfa|fa|sms|verification|unlock|security|auth|login|access|confirmation)\.code)\Z"
)
_KEYS = re.compile(
    rf"(?:\A|\.)(?:{_KEY_OWNERS})\.?key\Z|(?:\A|\.)(?:{_KEY_WORDS})(?:\.|\Z)|(?:schluessel|schlüssel)(?:\.|\Z)|(?:\A|\.)(?:private|priv|hmac|salt|pepper|iv|csrf|xsrf)\Z|privkey\Z|(?:\A|\.)id\.(?:rsa|dsa|ecdsa|ed)\Z|(?:device|oauth|code)\.?(?:code|verifier)\Z|session(?:\.?id)?\Z|pkcs\Z|auth\.?code\Z|(?:\A|\.)auth\Z|\.pat\Z|(?:\A|\.)private\.key\."
)
_LOGIN_IDS = re.compile(r"(?:\A|\.)(?:vault|approle)\.(?:\w{1,40}\.){0,3}secret\.id\Z")
"""What Vault's AppRole takes in place of a password: a UUID, if it is not the name of a secret."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NO_KEYS = re.compile(
    r"(?:public|primary|foreign|partition|sort|cache|idempotency|surrogate|unique|join|row|dedup|object|message|routing|natural|business|group|index|pub|pk|fk|max|min|first|last|lower|upper)\.?key\Z|\Akey\Z"
)
"""Keys of tables, messages and caches, which are not secrets."""
_PHRASES = re.compile(r"(?:\A|\.)(?:seed|phrase|mnemonic)\Z")
_PASSWORDS = re.compile(
    r"(?:\A|\.)(?:creds?|tok|toks|token|totp|bearer|bearer\.value|pw|pass|mdp|parola|parol|clave|clave\.(?:usuario|cliente)|mima|sandi|rahasia|kodikos|gizli|geheimnis|geheim|jeton|bimilbeonho|code\.secret"
    r"|codigo\.secreto|secreto|secret[ao]|segreto|segredo|geheimer|hemlig|hemlighet|tajne|heimlich|masterauth|requirepass|sifra|sifre|login\.?key)(?:\Z|\.(?:acces|acceso|accesso|acesso|api|ordine|db|bd|base|auth|seed|secreta|bazy|tietokanta|banco)\Z)"
)
_WEAK = (
    "pin|otp|pkcs|llave|kata|tan|cvv|cvc|code|key|seed|phrase|mnemonic|cred|tok|bearer|mdp|parol|clave|mima|sandi|rahasia|kodikos"
    "|gizli|geheim|jeton|bimilbeonho|secret|segret|segredo|hemlig|tajne|masterauth|requirepass|salt|pepper|hmac|csrf|xsrf|session"
    "|auth|id_rsa|verifier|private|privkey|priv|pw|pass|sifr|schluessel|schlüssel|nyckel|sleutel|cle_|clé|chave|chiave|klucz"
    "|anahtar|avain|klyuch|kunci|_pat"
)
WEAK_WORDS = frozenset(_WEAK.split("|"))
"""Texts, in lower case, of which each of these names contains at least one."""
_LONGEST_NAME = 100
_CACHED = 8192


def holds_weakly(name: str, value: str) -> bool:
    """Whether a setting of this name contains a secret, judged by its value."""
    kind = _kind(name) if len(name) <= _LONGEST_NAME else ""
    if kind == "code":
        return is_code_number(value)
    if kind == "any":
        return is_random_key(value)
    if kind == "phrase":
        return is_phrase(value) or is_key(value)
    if kind == "uuid":
        return bool(_UUID.fullmatch(value))
    return (kind == "key" and is_key(value)) or (kind == "password" and looks_secret(value))


@lru_cache(_CACHED)
def _kind(name: str) -> str:
    words = [word.lower() for word in _WORD.findall(name.rpartition("/")[2])]
    while len(words) > 1 and words[-1] in _QUALIFIERS:
        words.pop()
    joined = ".".join(words)
    if _CODES.search(joined):
        return "code"
    if _PASSWORDS.search(joined):
        return "password"
    if _PHRASES.search(joined):
        return "phrase"
    if _LOGIN_IDS.search(joined):
        return "uuid"
    if _KEYS.search(joined):
        return "key"
    return "any" if words and words[-1] == "key" and not _NO_KEYS.search(joined) else ""
