"""An identity provider that gives tokens to those who know a secret, and to virtual machines of Azure: what OAUTHBEARER asks for them."""

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from tests.servers.broker import ISSUER
from tests.servers.web.openid import DEFAULT_AUDIENCE, Key, made_key

CLIENT, SECRET = "bridge", "s3cret"


class Provider:
    """`asked` are the forms that came; `answer` replaces the token. `key` signs tokens as one issuer's."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self.asked: list[dict[str, list[str]]] = []
        self.answer: bytes | None = None
        self.url = ""

    def token(self, subject: str = "admin") -> str:
        """A token of the issuer that the broker of the tests believes, if the key is the broker's."""
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": DEFAULT_AUDIENCE, "sub": subject, "iat": now, "exp": now + 3600}
        return jwt.encode({"alg": "RS256", "kid": self._key.kid}, claims, self._key)


@contextmanager
def provider(key: Key | None = None) -> Iterator[Provider]:
    """A token endpoint on loopback; without a key, no broker believes its tokens."""
    made = Provider(key or made_key("RS256", "own"))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            made.asked.append(form)
            login = base64.b64decode(self.headers.get("Authorization", "").removeprefix("Basic ")).decode()
            self.answer(login == f"{CLIENT}:{SECRET}", 3600)

        def do_GET(self) -> None:
            """As Azure's metadata service, which only answers with this header, and writes numbers as texts."""
            made.asked.append(parse_qs(urlsplit(self.path).query))
            self.answer(self.headers.get("Metadata") == "true" and "resource" in made.asked[-1], "3600")

        def answer(self, good: bool, expires_in: int | str) -> None:
            token = {"access_token": made.token(), "token_type": "bearer", "expires_in": expires_in}
            body = (made.answer or json.dumps(token).encode()) if good else b'{"error": "invalid_client"}'
            self.send_response(200 if good else 401)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_port}/token"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
