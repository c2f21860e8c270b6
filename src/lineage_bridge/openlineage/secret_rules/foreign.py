"""Words for passwords in languages other than English."""

import re

from ahocorasick_rs import AhoCorasick, BytesAhoCorasick

from lineage_bridge.openlineage.required_text import required_texts

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
    "κωδικός",
    "секрет",
    "ключ_api",
    "mật_khẩu",
    "秘密鍵",
    "密钥",
    "密鑰",
    "비밀키",
    "암호",
    "รหัสผ่าน",
    "पासवर्ड",
    "رمز عبور",
    "kodeordet",
]
_PLAIN = (
    "losenord|losenordet|llave_privada|mot_passe|cle_privee|cle_secrete|chave_privada|toegangscode|kata_kunci|hemligt"
    "|token de acceso|avain|sifre|sifresi|parolasi|haslo|jelszo|jelszava|lozinka|geslo|parool|slaptazodis|slaptažodis|parole"
    "|kodeord|kodeordet|contrasenia|contrasenya|motdepasse|mot_de_passe|palavra_passe|palavrapasse|palabra_clave|palabra_paso"
    "|zugangswort|zugangspasswort|losungswort|sandi|kata sandi|mat khau|matkhau|parol|mdp|clave|clave de acceso|heslem|hesla"
    "|passord|salasanan|fjalekalimi|fjalëkalimi|zaporka|zaporku|lykilord|lykilorð|pasahitza|pasvorto|nenosiri|wagwoord|mima"
    "|bimilbeonho|kodikos|zugangsschluessel|schluessel|geheimnis"
)
_PLAIN_WORDS = _PLAIN.split("|")
FOREIGN = "|".join(map(re.escape, [*_WORDS, *_PLAIN_WORDS]))
"""The words, in lower case, as alternatives of a regular expression."""
NAMES = frozenset(max(re.split(r"[ _-]", word), key=len) for word in [*_WORDS, *_PLAIN_WORDS])
"""Texts of which every such name contains at least one."""
_NAME = re.compile("|".join(re.escape(word).replace(r"\ ", r"[ _.\-]?") for word in _WORDS))


_LATIN = re.compile(
    r"(?<![^\W_])(?:(?:\w{0,20})?losenord(?:et)?|llave_?(?:api|privada|secreta)|mot_?passe"
    r"|cle_?priv[eé]e|chave_?privada|chave_de_acesso|chiave_?privata|toegangscode|salainen_?avain|kata_?kunci|hemligt|(?:\w{0,20}_)?sifresi|sifre|parolasi|haslo|jelszo|jelszava|lozinka|geslo|parool|slaptazodis|slaptažodis|kodeord(?:et)?|contrasen(?:i|y)?a"
    r"|mot_?de_?passe|palavra_?passe|palabra_?(?:clave|paso)|zugangs?(?:wort|passwort|schluessel|schlüssel|code)|losungswort|kata_?sandi|mat_?khau|adgangskode|passord|salasana"
    r"|heslo|wachtwoord|senha|kennwort|zaporka|fjalekalimi|lykilord|pasahitza|pasvorto|nenosiri|wagwoord|geheim(?:er|e)?_?(?:schluessel|schlüssel|sleutel)|clave_(?:de_)?acces+o|clave_?secreta"
    r"|codigo_?secreto"
    r"|código_?secreto|chave_?secreta"
    r"|chiave_?segreta|cle_?secrete|clé_?secrète|hemlig_?nyckel|gizli_?anahtar|parola_?d?_?ordine"
    r"|tajny_?klucz|sleutel_?geheim)(?:[_\-. ]?\d{0,3})"
    r"(?:\Z|[_\-. ](?:db|bd|base|bazy|banco|tietokanta|acceso|acesso|api|app|prod|admin|root|user|usuario|utente|\w{2,12})\Z)"
)
"""Without accents, as whole words of a name in lower case."""
_LATIN_TEXTS = AhoCorasick(sorted(required_texts(_LATIN)[0]))
_DESCRIBED = re.compile(r"[_\-. ](?:am|expiradas?|geaendert|promijenjena|count|id|type|typ|at|reset|length|policy)\Z")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DEEPEST = 6
"""How many levels of JSON inside strings are searched: each level doubles the backslash of an escape."""


def _encodings(word: str) -> "list[bytes]":
    """A pattern for a word in JSON, in lower case if it is ASCII: in UTF-8, and with escaped letters, also inside strings."""
    escapes = ("\\" * 2**depth for depth in range(_DEEPEST))
    escaped = ["".join(letter if letter.isascii() else f"{escape}u{ord(letter):04x}" for letter in word) for escape in escapes]
    return [text.encode().lower() for text in (word, *escaped)]


_ENCODED = BytesAhoCorasick(
    sorted({text for word in _WORDS if not word.isascii() for case in (word, word.capitalize(), word.upper()) for text in _encodings(case)})
)


def names_password(name: str) -> bool:
    """Whether the name of a setting contains a word for password in another language."""
    words = name if name.islower() else _CAMEL.sub("_", name).lower()
    if name.isascii() and not _LATIN_TEXTS.find_matches_as_indexes(words):
        return False
    lower = name.lower()
    if _DESCRIBED.search(lower):
        return False
    return bool(_LATIN.search(words)) or (not name.isascii() and bool(_NAME.search(lower)))


def foreign_offsets(raw: bytes) -> "list[int]":
    """The positions of such words in JSON, whose letters may be escaped."""
    return [] if raw.isascii() and b"\\u" not in raw else [start for _, start, _ in _ENCODED.find_matches_as_indexes(raw.lower())]
