"""What fills the markers of templates: strings of a token's alphabet and length, and passwords as people choose them.

The same seed gives the same string, on every machine.
"""

import hashlib
import random
import re
import string
import uuid
from collections.abc import Callable

_ALNUM = string.ascii_letters + string.digits
ALPHABETS = {
    "an": _ALNUM,
    "ALPHA": string.ascii_letters,
    "hx": "0123456789abcdef",
    "HX": "0123456789ABCDEF",
    "b64": _ALNUM + "+/",
    "url": _ALNUM + "-_",
    "up": string.ascii_uppercase + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "low": string.ascii_lowercase + string.digits,
    "num": string.digits,
}
_WORDS = ("Kestrel", "Marmalade", "Tundra", "Walnut", "Cobalt", "Juniper", "Zephyr", "Pelican", "Quartz", "Thistle", "Bramble", "Gherkin")


def _human(source: random.Random) -> str:
    return f"{source.choice(_WORDS)}{source.choice(('', '-', '_'))}{source.randrange(10, 9999)}{source.choice(('', '!', '!x'))}"


def _weak(source: random.Random) -> str:
    return source.choice(_WORDS).lower() + source.choice(("", "1", "99"))


def _in_a_url(source: random.Random) -> str:
    return f"{source.choice(_WORDS)}{source.choice(('', '-', '%21', '%40', '~'))}{source.randrange(10, 9999)}"


def _special(source: random.Random) -> str:
    signs = source.sample("@#$%^&*:/?", 3)
    return f"{source.choice(_WORDS)}{signs[0]}{source.randrange(10, 99)}{signs[1]}{source.choice(_WORDS).lower()}{signs[2]}"


def _phrase(source: random.Random) -> str:
    return "-".join(word.lower() for word in source.sample(_WORDS, 4))


def _uuid(source: random.Random) -> str:
    return str(uuid.UUID(int=source.getrandbits(128), version=4))


def _short(source: random.Random) -> str:
    return "".join(source.sample("bdfgkvxz", 3)) + source.choice("!#+") + str(source.randrange(10, 99))


def _spaced(source: random.Random) -> str:
    return f"{source.choice(_WORDS)} {source.choice(_WORDS).lower()} {source.randrange(100, 999)}"


def _encoded(source: random.Random) -> str:
    return f"{source.choice(_WORDS)}%40{source.randrange(10, 99)}%2F{source.choice(_WORDS).lower()}%23"


def _encoded_base64(source: random.Random) -> str:
    return "%2F".join("".join(source.choice(_ALNUM) for _ in range(13)) for _ in range(3))


def _quoted(source: random.Random) -> str:
    return f"{source.choice(_WORDS)}''{source.choice(_WORDS).lower()}{source.randrange(10, 99)}"


def _foreign(source: random.Random) -> str:
    return f"{source.choice(('Gänseblume', 'Jalapeño', 'Œuvre', 'Снегирь', 'Żółtodziób', '雪だるま'))}{source.randrange(100, 9999)}"


def _dollar(source: random.Random) -> str:
    return f"{source.choice(_WORDS)}${source.randrange(10, 99)}${source.choice(_WORDS).lower()}"


CHOSEN: dict[str, Callable[[random.Random], str]] = {
    "short": _short,
    "spaced": _spaced,
    "pct": _encoded,
    "pctb64": _encoded_base64,
    "quotesql": _quoted,
    "foreign": _foreign,
    "dollar": _dollar,
    "human": _human,
    "weak": _weak,
    "humanurl": _in_a_url,
    "special": _special,
    "phrase": _phrase,
    "uuid": _uuid,
}


def make(marker: str, seed: str) -> str:
    """What stands for a marker such as `hx:32` or `human`."""
    source = random.Random(hashlib.sha256(seed.encode()).digest())
    name, _, length = marker.partition(":")
    if name in CHOSEN:
        return CHOSEN[name](source)
    return "".join(source.choice(ALPHABETS[name]) for _ in range(int(length)))


VOCABULARY = {
    "table": ("orders", "customers", "payment_events", "user_tokens", "secret_santa", "password_resets", "api_key_usage", "sessions"),
    "alias": ("shop", "crm", "billing", "web", "fraud", "stock", "returns", "mobile"),
    "word": ("falcon", "heron", "osprey", "plover", "magpie", "curlew", "dunlin", "wagtail", "siskin", "bunting"),
    "Word": ("Falcon", "Heron", "Osprey", "Plover", "Magpie", "Curlew", "Dunlin", "Wagtail", "Siskin", "Bunting"),
    "WORD": ("FALCON", "HERON", "OSPREY", "PLOVER", "MAGPIE", "CURLEW", "DUNLIN", "WAGTAIL", "SISKIN", "BUNTING"),
    "topic": ("shop.orders.v1", "crm-customer-changes", "billing.invoice_paid", "web.session-tokens", "password-reset-requested"),
    "bucket": ("acme-lake", "acme-secrets-audit", "shop-raw-eu", "billing-archive", "ml-tokens"),
    "day": tuple(f"{day:02}" for day in range(1, 29)),
}
_WORD_MARKER = re.compile(r"\[\[(" + "|".join(VOCABULARY) + r")\]\]")


def fill_words(template: str, seed: str) -> str:
    """The template with words for the markers of the vocabulary."""
    source = random.Random(hashlib.sha256(f"{template}/{seed}".encode()).digest())
    return _WORD_MARKER.sub(lambda found: source.choice(VOCABULARY[found[1]]), template)
