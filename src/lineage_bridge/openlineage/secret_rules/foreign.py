"""What passwords are called in other languages than English."""

import re

from ahocorasick_rs import BytesAhoCorasick

_WORDS = [
    "kennwort",
    "passwort",
    "mot de passe",
    "contraseña",
    "contrasena",
    "senha",
    "palavra-passe",
    "parola d'ordine",
    "wachtwoord",
    "lösenord",
    "adgangskode",
    "passord",
    "salasana",
    "hasło",
    "hasla",
    "heslo",
    "jelszó",
    "şifre",
    "parola",
    "пароль",
    "пароля",
    "пароли",
    "mật khẩu",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "暗証番号",
    "비밀번호",
    "كلمة المرور",
    "סיסמה",
    "κωδικός πρόσβασης",
]
FOREIGN = "|".join(map(re.escape, _WORDS))
"""Alternatives of a pattern, in lower case."""
NAMES = frozenset(max(re.split(r"[ -]", word), key=len) for word in _WORDS)
"""Texts of which one is in each name in another language."""
_NAME = re.compile("|".join(re.escape(word).replace(r"\ ", r"[ _.\-]?") for word in _WORDS))


_DEEPEST = 6
"""How deep JSON in strings is looked into: the backslash of an escape is doubled each time."""


def _encodings(word: str) -> "list[bytes]":
    """A word in JSON, in lower case where it is ASCII: in UTF-8, and with its letters escaped, as JSON in strings too."""
    escapes = ("\\" * 2**depth for depth in range(_DEEPEST))
    escaped = ["".join(letter if letter.isascii() else f"{escape}u{ord(letter):04x}" for letter in word) for escape in escapes]
    return [text.encode().lower() for text in (word, *escaped)]


_ENCODED = BytesAhoCorasick(
    sorted({text for word in _WORDS if not word.isascii() for case in (word, word.capitalize(), word.upper()) for text in _encodings(case)})
)


def names_password(name: str) -> bool:
    """Whether a setting is called password in another language."""
    return not name.isascii() and bool(_NAME.search(name.lower()))


def foreign_places(raw: bytes) -> "list[int]":
    """Where such a word begins in JSON, whose letters may be escaped."""
    return [] if raw.isascii() and b"\\u" not in raw else [start for _, start, _ in _ENCODED.find_matches_as_indexes(raw.lower())]
