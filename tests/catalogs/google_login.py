"""Logins at Google: an access token, and the tokens that the key of a service account signs."""

import json
from typing import Final

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from google.auth import jwt
from tests.catalogs.standins.server import Request

TOKEN: Final = "ya29.test"


def is_authorized(request: Request, key: bytes) -> bool:
    """Whether a request has the access token, or one that a service account signed; `key` is the public part of its key."""
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    if token == TOKEN:
        return True
    try:
        claims = jwt.decode(token, certs=key) if key else {}
    except ValueError:
        claims = {}
    return claims.get("scope") == "https://www.googleapis.com/auth/cloud-platform"


def service_account(project: str) -> tuple[str, bytes]:
    """The key of a service account, as Google issues it, and its public part."""
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    about = {"type": "service_account", "client_email": "us@example.com", "token_uri": "https://oauth2.example", "private_key": private}
    text = json.dumps({**about, "private_key_id": "1", "project_id": project})
    return text, made.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
