"""Values made from shapes such as `ghp_<A36>`: a letter for the alphabet and a length, or the name of a kind.

A `~` at the end (`<d12~>`) says that the part is no secret by itself: the number of a workspace, a tenant.
"""

import random
import re
import string
from collections.abc import Callable
from dataclasses import dataclass

_ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "a": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "B": string.ascii_uppercase + "234567",
    "G": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "L": string.ascii_letters,
    "l": string.ascii_lowercase,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "d": string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "s": string.ascii_letters + string.digits + "-_",
}
_WORDS = (
    *("orders", "customers", "invoices", "parcels", "claims", "sensors", "tickets", "lessons", "pupils", "flights", "rooms", "meters"),
    *("wages", "stock", "prices", "baskets", "payments", "refunds", "vendors", "routes", "fleets", "patients", "wards", "tests"),
    *("trials", "visits", "clicks", "pages", "songs", "films"),
)
_PASSWORD_WORDS = ("Falcon", "Meadow", "Copper", "Violet", "Harbor", "Tundra", "Walnut", "Zephyr")
"""Words that no text of the set contains, so that what is left of a password is seen."""
_PART = re.compile(r"<(?:([AaUBGLlhHdbs])(\d+)|(uuid|pwu|pwe|pw|pem1|pem|date|w|W))(~?)>")


@dataclass(frozen=True, slots=True)
class Filled:
    """A text whose shapes are filled, and the parts of it that are secret."""

    text: str
    secrets: tuple[str, ...]


class Values:
    """Values in the order of one seed."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._named: dict[str, Callable[[], str]] = {
            "uuid": self._uuid,
            "pw": lambda: self._password("!#$%^*_-+?~", "="),
            "pwu": lambda: self._password("._~-", "!"),
            "pwe": lambda: self._password(("%40", "%3A", "%2F", "%23"), "%21"),
            "pem": lambda: "\n".join(self._letters("b", 64) for _ in range(8)),
            "pem1": lambda: "\\n".join(self._letters("b", 64) for _ in range(8)),
            "date": lambda: f"2026-{self._number(1, 12):02}-{self._number(1, 28):02}",
            "w": lambda: self._pick(_WORDS),
            "W": lambda: self._pick(_WORDS).capitalize(),
        }

    def fill(self, text: str) -> Filled:
        """The text with each shape replaced, and which of the values are secret."""
        secrets: list[str] = []

        def replace(match: re.Match[str]) -> str:
            alphabet, length, named, open_ = match.groups()
            value = self._named[named]() if named else self._letters(alphabet, int(length))
            if not open_ and named not in ("date", "w", "W") and alphabet != "d":
                secrets.append(value)
            return value

        return Filled(_PART.sub(replace, text), tuple(secrets))

    def _number(self, low: int, high: int) -> int:
        return low + int(self._random.random() * (high - low + 1))

    def _pick(self, choices: tuple[str, ...] | str) -> str:
        return choices[self._number(0, len(choices) - 1)]

    def _letters(self, alphabet: str, length: int) -> str:
        return "".join(self._pick(_ALPHABETS[alphabet]) for _ in range(length))

    def _uuid(self) -> str:
        return "-".join(self._letters("h", length) for length in (8, 4, 4, 4, 12))

    def _password(self, marks: tuple[str, ...] | str, last: str) -> str:
        """A password as people and generators choose them; a mark stands inside, never first."""
        form = self._number(1, 3)
        if form == 1:
            return self._pick(_PASSWORD_WORDS) + self._pick(marks) + self._letters("d", 4) + self._letters("A", 3)
        if form == 2:
            return self._letters("A", 6) + self._pick(marks) + self._letters("A", 5) + last + self._letters("A", 2)
        return self._letters("A", 16)
