"""An OpenID provider: oidc-provider, on Node. Its keys are made here, so that tests can sign as it does."""

import hashlib
import re
import secrets
import shutil
import subprocess
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import httpx
from joserfc.jwk import ECKey, OKPKey, RSAKey
from tests.ports import HOST, free_port
from tests.servers import archives
from tests.servers.process import listens, running

PROGRAM = Path(__file__).with_name("openid_provider")
CALLBACK = "https://page.example/callback"
DEFAULT_AUDIENCE = "urn:kafka"
"""Whom tokens are for that a program asks for without naming anybody, as clients of Kafka do."""
PROGRAM_USER = "orders-job"
Key = RSAKey | ECKey | OKPKey


def made_key(algorithm: str, kid: str) -> Key:
    """A new private key for an algorithm."""
    parameters: Any = {"kid": kid, "use": "sig", "alg": algorithm}
    key: Key
    if algorithm.startswith("ES"):
        key = ECKey.generate_key({"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}[algorithm], parameters)
    elif algorithm == "EdDSA":
        key = OKPKey.generate_key("Ed25519", parameters)
    else:
        key = RSAKey.generate_key(2048, parameters)
    return key


@dataclass
class OpenIdProvider:
    """A provider that runs at `url`, and was told to be the issuer `issuer`."""

    url: str
    _client: httpx.Client
    issuer: str = ""
    _secret: str = field(default_factory=secrets.token_urlsafe)

    @property
    def secret(self) -> str:
        """The secret of the clients `lineage` and PROGRAM_USER."""
        return self._secret

    def be(self, issuer: str, keys: Sequence[Key], algorithm: str = "RS256", callbacks: Sequence[str] = (CALLBACK,)) -> None:
        """Be this issuer, with these private keys. `callbacks` are where people come back to who log in to `lineage`."""
        self.issuer = issuer
        listed = [key.as_dict(private=True) for key in keys]
        settings = {"issuer": issuer, "keys": listed, "algorithm": algorithm, "secret": self._secret, "callbacks": list(callbacks)}
        answer = self._client.post(f"{self.url}/control", json=settings)
        assert answer.status_code == 204, answer.text

    def client_token(self, audience: str) -> str:
        """An access token of the program PROGRAM_USER."""
        form = {"grant_type": "client_credentials", "resource": audience, "scope": "lineage"}
        answer = self._client.post(f"{self.url}/token", data=form, auth=(PROGRAM_USER, self._secret))
        assert answer.is_success, answer.text
        return str(answer.json()["access_token"])

    def person_tokens(self, person: str, audience: str) -> tuple[str, str]:
        """The access token and the ID token that a person gets who logs in to the application `page`, as a browser does it."""
        verifier = secrets.token_urlsafe(48)
        challenge = urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        question = {"client_id": "page", "response_type": "code", "scope": "openid lineage", "resource": audience, "redirect_uri": CALLBACK}
        question |= {"code_challenge": challenge, "code_challenge_method": "S256", "nonce": secrets.token_urlsafe(8)}
        with httpx.Client(timeout=60, verify=False) as browser:
            place = self.log_in(browser, f"{self.url}/auth?{urlencode(question)}", person, CALLBACK)
            form = {"grant_type": "authorization_code", "client_id": "page", "code": parse_qs(urlsplit(place).query)["code"][0]}
            tokens = browser.post(
                f"{self.url}/token", data={**form, "redirect_uri": CALLBACK, "code_verifier": verifier, "resource": audience}
            )
        assert tokens.is_success, tokens.text
        return str(tokens.json()["access_token"]), str(tokens.json()["id_token"])

    def log_in(self, browser: httpx.Client, url: str, person: str, callback: str) -> str:
        """Log in at an address, with the provider's forms, as a browser does it; the address with which the provider sends it back."""
        answer = browser.get(self._here(url))
        forms = [{"prompt": "login", "login": person, "password": "any"}, {"prompt": "consent"}]
        while not (place := answer.headers.get("location", "")).startswith(callback):
            if place:
                answer = browser.get(self._here(place))
            else:
                (target,) = set(re.findall(r'action="([^"]+)" method="post"', answer.text))
                answer = browser.post(self._here(target), data=forms.pop(0))
        return str(place)

    def _here(self, place: str) -> str:
        """The address at the provider itself of one that begins as the issuer does."""
        return urljoin(self.url, urlsplit(place)._replace(scheme="", netloc="").geturl())


def _install(home: Path) -> None:
    assert shutil.which("npm"), "the OpenID provider of the tests needs Node 20 or newer, with npm"
    home.mkdir()
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PROGRAM / name, home)
    options = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(["npm", "ci", *options], cwd=home, check=True)


def installed() -> Path:
    """The folder of the provider's packages. Raises CalledProcessError when npm cannot install them, after npm has printed the reason."""
    return archives.made("openid", [PROGRAM / "package-lock.json"], _install)


@contextmanager
def started(folder: Path) -> Iterator[OpenIdProvider]:
    """A provider that waits to be told who it is."""
    port = free_port()
    with running("openid", ["node", PROGRAM / "server.mjs", installed(), str(port)], folder) as process:
        process.wait_until(lambda: listens(port))
        with httpx.Client(timeout=60, verify=False) as client:
            yield OpenIdProvider(f"http://{HOST}:{port}", client)
