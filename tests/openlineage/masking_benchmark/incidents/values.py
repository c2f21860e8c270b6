"""Makes the values of the set: `<<hex:40>>` is forty hexadecimal digits, `<<red|blue>>` one of the two, `<<pw>>` a password."""

import base64
import json
import re
from collections.abc import Callable
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits


def _words(text: str) -> list[str]:
    return text.split()


_PLACEHOLDER = re.compile(r"<<([^<>]+)>>")
_ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "an": ascii_letters + digits,
    "AN": ascii_uppercase + digits,
    "lo": ascii_lowercase + digits,
    "b64": ascii_letters + digits + "+/",
    "url": ascii_letters + digits + "-_",
    "b32": ascii_uppercase + "234567",
    "up": ascii_uppercase,
    "low": ascii_lowercase,
    "num": digits,
}
_WORDS = _words("juniper kestrel marmot saffron tundra zephyr quokka obsidian walnut cobalt heron lynx")
_TABLES = _words("orders customers payments shipments invoices clicks sessions refunds inventory returns")
_TEAMS = _words("retail growth finance logistics fraud search billing crm")
_TRICKY = _words(
    """
    password_reset_events api_key_id token_count secret_santa_orders primary_key foreign_keys key_account_managers keyboard_sales
    passwords_changed_daily auth_token_usage access_tokens_audit credential_checks private_key_rotations passport_scans pwd_policy
    is_password_set last_password_change token_type_id tokenized_cards secretary_contacts partition_key sort_key surrogate_key
    monkey_tests hotkey_usage passkey_enrolments session_key_hash_version api_keys oauth_clients signature_requests cookie_consents
    """
)


def _chosen(random: Random, alphabet: str, length: int) -> str:
    return "".join(random.choice(alphabet) for _ in range(length))


def _human(random: Random) -> str:
    word = random.choice(_WORDS).capitalize()
    return random.choice(
        (
            f"{word}{random.randint(1970, 2030)}!",
            f"{word}-{random.choice(_WORDS)}-{random.randint(10, 99)}",
            _chosen(random, ascii_letters + digits, 14),
            f"{word[:4]}_{_chosen(random, ascii_letters + digits, 8)}",
            f"{word.replace('o', '0').replace('e', '3')}{random.randint(100, 9999)}",
        )
    )


def _hard(random: Random) -> str:
    return f"{_chosen(random, ascii_letters, 5)}{random.choice('#$%^*')}{_chosen(random, digits, 3)}{random.choice('!+=~')}{_human(random)}"


def _weak(random: Random) -> str:
    return random.choice(_WORDS) + str(random.randint(1, 999))


def _url_base64(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def _jwt(random: Random) -> str:
    subject = {"sub": random.choice(_TEAMS), "iat": random.randint(1_700_000_000, 1_790_000_000), "scope": "write"}
    return f"{_url_base64({'alg': 'RS256', 'typ': 'JWT'})}.{_url_base64(subject)}.{_chosen(random, _ALPHABETS['url'], 86)}"


def _basic(random: Random) -> str:
    return base64.b64encode(f"svc-{random.choice(_TEAMS)}:{_human(random)}".encode()).decode()


def _base64_of_password(random: Random) -> str:
    return base64.b64encode(_human(random).encode()).decode()


def _pem(random: Random) -> str:
    lines = [_chosen(random, _ALPHABETS["b64"], 64) for _ in range(random.randint(5, 12))]
    return "\n".join(["MII" + lines[0][3:], *lines[1:], _chosen(random, _ALPHABETS["b64"], 30) + "=="])


def _uuid(random: Random) -> str:
    return "-".join(_chosen(random, _ALPHABETS["hex"], length) for length in (8, 4, 4, 4, 12))


def _day(random: Random) -> str:
    return f"20{random.randint(19, 29)}-{random.randint(1, 12):02}-{random.randint(1, 28):02}"


_MADE: dict[str, Callable[[Random], str]] = {
    "pw": _human,
    "hard": _hard,
    "weak": _weak,
    "jwt": _jwt,
    "basic": _basic,
    "b64pw": _base64_of_password,
    "pem": _pem,
    "uuid": _uuid,
    "day": _day,
    "word": lambda random: random.choice(_WORDS),
    "table": lambda random: random.choice(_TABLES),
    "team": lambda random: random.choice(_TEAMS),
    "tricky": lambda random: random.choice(_TRICKY),
}


def fill(template: str, seed: str) -> str:
    """Replace each placeholder by a value. Equal seeds give equal values."""
    random = Random(seed)
    return _PLACEHOLDER.sub(lambda found: _value(found[1], random), template)


def _value(specification: str, random: Random) -> str:
    if "|" in specification:
        return random.choice(specification.split("|"))
    if made := _MADE.get(specification):
        return made(random)
    alphabet, length = specification.split(":")
    text = _chosen(random, _ALPHABETS[alphabet], int(length))
    return f"7{text[1:]}" if alphabet == "num" and text.startswith("0") else text
