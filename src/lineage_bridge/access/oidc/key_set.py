"""Reads the public keys of an issuer from its JSON Web Key Set (RFC 7517)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, OKPKey, RSAKey

from lineage_bridge.errors import SourceError

MOST_KEYS: Final = 200
_PUBLIC: Final = frozenset({"kty", "kid", "use", "key_ops", "alg", "n", "e", "crv", "x", "y"})
"""Members of a key that are read; none of them is part of a private key."""
_MODULUS: Final = range(2048 // 6, 8192 // 6 + 2)
"""The length in characters of an RSA key's modulus, for 2,048 to 8,192 bits. A shorter modulus is weak, a longer one slow."""
_OF_RSA: Final = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_OF_CURVE: Final = {
    ("EC", "P-256"): {"ES256"},
    ("EC", "P-384"): {"ES384"},
    ("EC", "P-521"): {"ES512"},
    ("OKP", "Ed25519"): {"EdDSA", "Ed25519"},
    ("OKP", "Ed448"): {"EdDSA", "Ed448"},
}


@dataclass(frozen=True)
class VerificationKey:
    """A public key, and the algorithms that its signatures may use."""

    kid: str | None
    algorithms: frozenset[str]
    key: RSAKey | ECKey | OKPKey


@dataclass(frozen=True)
class VerificationKeys:
    """All keys of an issuer, as it published them at one time."""

    keys: tuple[VerificationKey, ...] = ()

    def named(self, kid: str | None, algorithm: str) -> tuple[VerificationKey, ...]:
        """The keys with this id. If a token names no key, the keys for the token's algorithm."""
        if kid is None:
            return tuple(key for key in self.keys if algorithm in key.algorithms)
        return tuple(key for key in self.keys if key.kid == kid)


def read_key_set(document: Mapping[str, Any], allowed: Collection[str]) -> VerificationKeys:
    """The keys of a key set that can verify signatures of `allowed` algorithms; others are left out. Raises SourceError if the document is
    not a key set.
    """
    listed = document.get("keys")
    if not isinstance(listed, list):
        raise SourceError("the issuer's key set has no list `keys`", "check `issuer` in the settings")
    if len(listed) > MOST_KEYS:
        raise SourceError(f"the issuer's key set has {len(listed):,} keys; the limit is {MOST_KEYS}", "remove old keys at the issuer")
    read = (_key(data, frozenset(allowed)) for data in listed if isinstance(data, dict))
    return VerificationKeys(tuple(key for key in read if key))


def _key(data: dict[str, Any], allowed: frozenset[str]) -> VerificationKey | None:
    operations = data.get("key_ops", ["verify"])
    if data.get("use", "sig") != "sig" or not isinstance(operations, list) or "verify" not in operations:
        return None
    algorithms = _algorithms(data) & allowed
    if not algorithms:
        return None
    # The algorithm was checked already; under its former name, EdDSA, the library knows no curve.
    public = {name: value for name, value in data.items() if name in _PUBLIC and name not in {"alg", "key_ops"}}
    try:
        key = JWKRegistry.import_key(public)
    except (JoseError, ValueError, TypeError, LookupError, OverflowError, UnsupportedAlgorithm):
        return None
    return VerificationKey(key.kid, algorithms, key) if isinstance(key, RSAKey | ECKey | OKPKey) else None


def _algorithms(data: Mapping[str, Any]) -> frozenset[str]:
    """The algorithms for which a key may be used, from its type and from its own members. There are none for a shared secret."""
    kind, modulus = data.get("kty"), data.get("n")
    fitting: Collection[str] = ()
    if kind == "RSA" and isinstance(modulus, str) and len(modulus) in _MODULUS:
        fitting = _OF_RSA
    else:
        fitting = _OF_CURVE.get((str(kind), str(data.get("crv"))), ())
    stated = data.get("alg")
    return frozenset(fitting) if stated is None else frozenset(fitting) & {str(stated)}
