"""Fills the marks of a template with values of the right form, from a seed: `⟦word⟧`, `⟦hex_40⟧`, and `⟦!pw⟧` for the secret."""

import base64
import random
import re
import string
import uuid
from collections.abc import Callable

_MARK = re.compile(r"⟦(!?)([a-z0-9]+?)(?:_(\d+))?⟧")
_URL = string.ascii_letters + string.digits + "-_"
_ALNUM = string.ascii_letters + string.digits
_ALPHABETS = {
    "hex": "0123456789abcdef",
    "upperhex": "0123456789ABCDEF",
    "digits": string.digits,
    "letters": string.ascii_letters,
    "alnum": _ALNUM,
    "url": _URL,
    "b64url": _ALNUM,
    "upper": string.ascii_uppercase + string.digits,
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
_SIZES = {44: 32, 88: 64}
_WORDS = [
    "orders",
    "customers",
    "invoices",
    "payments",
    "shipments",
    "sessions",
    "clicks",
    "returns",
    "stock",
    "prices",
    "ledger",
    "claims",
    "policies",
    "visits",
    "trips",
    "drivers",
    "tickets",
    "refunds",
    "carts",
    "catalog",
    "suppliers",
    "accounts",
    "balances",
    "loans",
    "rates",
    "quotes",
    "leads",
    "campaigns",
    "churn",
]
_USERS = [
    "etl_prod",
    "svc_loader",
    "airflow",
    "dbt_runner",
    "reporting",
    "app_writer",
    "kafka_connect",
    "debezium",
    "sqoop",
    "jsmith",
    "m.huber",
]
_SITES = ["db-01.prod.acme.io", "pg.internal.example.com", "10.20.30.41", "warehouse.acme.local", "mq-2.eu.acme.io", "sftp.vendor.example"]
_PARTS = [
    "Winter",
    "Falcon",
    "River",
    "Copper",
    "Tiger",
    "Maple",
    "Rocket",
    "Sunset",
    "Marble",
    "Pepper",
    "Anchor",
    "Velvet",
    "Orchid",
    "Granite",
]
_COLUMNS = [
    "order_id",
    "customer_id",
    "email",
    "status",
    "amount",
    "currency",
    "created_at",
    "updated_at",
    "country",
    "channel",
    "sku",
    "quantity",
    "price_net",
    "is_active",
    "event_time",
    "row_hash",
    "source_system",
    "batch_no",
    "valid_from",
    "valid_to",
]


class Fill:
    """Values for the marks of templates, each drawn from one seeded sequence."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._named: dict[str, Callable[[], str]] = {
            "word": lambda: self._random.choice(_WORDS),
            "upword": lambda: self._random.choice(_WORDS).upper(),
            "user": lambda: self._random.choice(_USERS),
            "host": lambda: self._random.choice(_SITES),
            "col": lambda: self._random.choice(_COLUMNS),
            "year": lambda: str(self._random.randint(2019, 2026)),
            "n": lambda: str(self._random.randint(2, 997)),
            "uuid": lambda: str(uuid.UUID(int=self._random.getrandbits(128), version=4)),
            "pw": lambda: self._password("!#$%*+?^~.-_"),
            "pwplain": lambda: self._password("!#*+^~.-_"),
            "pwurl": lambda: self._password("!*.-_~"),
            "pwlong": lambda: self._chars(_ALNUM + "!#%^*(-_=+)", 50),
            "b64pw": lambda: base64.b64encode(self._password("!*").encode()).decode(),
            "basic": lambda: base64.b64encode(f"svc_loader:{self._password('!*')}".encode()).decode(),
            "jwt": self._jwt,
            "grafana": lambda: base64.b64encode(f'{{"k":"{self._chars(_ALNUM, 32)}","n":"etl","id":1}}'.encode()).decode(),
            "fernet": lambda: base64.urlsafe_b64encode(self._random.randbytes(32)).decode(),
            "pem": lambda: self._pem("PRIVATE KEY"),
            "rsapem": lambda: self._pem("RSA PRIVATE KEY"),
            "opensshpem": lambda: self._pem("OPENSSH PRIVATE KEY"),
            "pemjson": lambda: self._pem("PRIVATE KEY").replace("\n", "\\n"),
            "pemindent": lambda: "  " + self._pem("EC PRIVATE KEY").replace("\n", "\n  "),
            "azsecret": lambda: f"{self._chars(_ALNUM, 3)}8Q~{self._chars(_URL + '.', 34)}",
            "sassig": lambda: self._base64(32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
            "awssession": lambda: f"IQoJb3JpZ2luX2VjE{self._base64(240)}",
        }

    def pick(self, count: int) -> int:
        """A number below `count`."""
        return self._random.randrange(count)

    def fill(self, template: str) -> tuple[str, str]:
        """The filled template and the value of its secret, empty where it has none."""
        secret = ""

        def value(mark: re.Match[str]) -> str:
            nonlocal secret
            made = self._value(mark[2], int(mark[3] or 0))
            secret = made if mark[1] else secret
            return made

        return _MARK.sub(value, re.sub(r"(az|sas|aws)_(secret|sig|session)⟧", r"\1\2⟧", template)), secret

    def _value(self, name: str, length: int) -> str:
        if name == "b64":
            return self._base64(_SIZES.get(length, length * 3 // 4))
        return self._chars(_ALPHABETS[name], length) if length else self._named[name]()

    def _chars(self, alphabet: str, length: int) -> str:
        return "".join(self._random.choice(alphabet) for _ in range(length))

    def _base64(self, size: int) -> str:
        return base64.b64encode(self._random.randbytes(size)).decode()

    def _password(self, symbols: str) -> str:
        style = self._random.randrange(4)
        if style == 0:
            return self._chars(_ALNUM, self._random.randint(12, 20))
        if style == 1:
            return f"{self._random.choice(_PARTS)}{self._random.randint(10, 9999)}{self._random.choice(symbols)}"
        if style == 2:
            return f"{self._random.choice(_PARTS)}{self._random.choice(symbols)}{self._random.choice(_PARTS)}{self._random.randint(1, 99)}"
        return self._chars(_ALNUM, 5) + self._random.choice(symbols) + self._chars(_ALNUM, self._random.randint(5, 9))

    def _jwt(self) -> str:
        body = base64.urlsafe_b64encode(f'{{"sub":"{self._chars(_ALNUM, 12)}","exp":1772360000}}'.encode()).decode().rstrip("=")
        return f"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.{body}.{self._chars(_URL, 43)}"

    def _pem(self, label: str) -> str:
        text = self._base64(300)
        lines = "\n".join(text[start : start + 64] for start in range(0, len(text), 64))
        return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----"
