"""Keeps secrets in one encrypted (sealed) file. The user holds its keys.

The file is a Fernet token (AES-128-CBC with HMAC-SHA256) of a JSON object with the secrets by name. If there are several keys, the first
one encrypts, and any of them decrypts. A file that cannot be decrypted is never overwritten. Each change is written to a second file, made
durable, and renamed.
"""

import json
import stat
from collections.abc import Sequence
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from filelock import FileLock

from lineage_bridge.errors import ConfigError, NotFoundError, RequestError
from lineage_bridge.eventlog.disk import replace_file


class SealedFile:
    """The secrets sealed at `path`. The keys, separated by white space or commas, are `keys` or, if that is empty, the text of `key_file`.

    Every method raises ConfigError when the keys or the file cannot be read, or do not match. No error contains a key or a secret.
    """

    def __init__(self, path: Path, key_file: Path, keys: str = "") -> None:
        self.path, self.key_file = path, key_file
        self._keys = keys

    def secret(self, name: str) -> str:
        """Return the secret with this name. Raises ConfigError if there is none."""
        found = self._opened().get(name)
        if found is None:
            raise ConfigError(f"{self.path} has no secret {name}", f"add it with: lineage-bridge secret set {name}")
        return found

    def names(self) -> list[str]:
        """The names of all secrets, sorted."""
        return sorted(self._opened())

    def set(self, name: str, secret: str) -> None:
        """Add or replace a secret."""
        with self._locked():
            self._seal({**self._opened(), name: secret}, self._read_keys())

    def remove(self, name: str) -> None:
        """Remove a secret. Raises NotFoundError."""
        with self._locked():
            kept = self._opened()
            if kept.pop(name, None) is None:
                raise NotFoundError(f"{self.path} has no secret {name}", "list the secrets: lineage-bridge secret list")
            self._seal(kept, self._read_keys())

    def make_key(self) -> None:
        """Create the key file. Raises RequestError if there is already a key, or a sealed file whose key is missing."""
        with self._locked():
            if self._keys:
                raise RequestError(
                    "a key already exists in the environment",
                    "to replace it, put a new key before it, separated by a comma, and run `lineage-bridge secret rotate`",
                )
            if self.key_file.exists():
                raise RequestError(f"a key already exists in {self.key_file}", "`lineage-bridge secret rotate` replaces it")
            if self.path.exists():
                raise RequestError(
                    f"the key of {self.path} is missing", f"put the key into {self.key_file}, or remove the file with the sealed secrets"
                )
            self._write_keys([new_key()])

    def rotate(self) -> None:
        """Encrypt all secrets with a new key, and delete the old keys.

        At any moment, the key file contains a key that decrypts the sealed file. Keys outside the key file (in the environment) are changed
        by the user; all secrets are then encrypted with the first of these keys. Raises RequestError if there is only one such key.
        """
        with self._locked():
            secrets, keys = self._opened(), self._read_keys()
            if self._keys:
                if len(keys) < 2:
                    raise RequestError(
                        "the environment has only one key",
                        "`lineage-bridge secret key --print` creates another; put it before the old one, separated by a comma",
                    )
                self._seal(secrets, keys)
                return
            fresh = new_key()
            self._write_keys([fresh, *keys])
            self._seal(secrets, [fresh])
            self._write_keys([fresh])

    def _opened(self) -> dict[str, str]:
        try:
            sealed = self.path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be read: {error.strerror}", "allow this user to read the file") from error
        try:
            opened = MultiFernet([Fernet(key) for key in self._read_keys()]).decrypt(sealed)
        except InvalidToken:
            raise ConfigError(
                f"{self.path} is not sealed with the key in {self._key_location()}, or is damaged",
                "provide the right key; nothing was changed",
            ) from None
        secrets: dict[str, str] = json.loads(opened)
        return secrets

    def _read_keys(self) -> list[str]:
        keys = (self._keys or self._key_text()).replace(",", " ").split()
        try:
            for key in keys:
                Fernet(key)
        except ValueError:
            raise ConfigError(
                f"{self._key_location()} has an invalid key", "`lineage-bridge secret key --print` creates a valid one"
            ) from None
        if not keys:
            raise ConfigError(f"there is no key in {self._key_location()}", "`lineage-bridge secret key` creates one")
        return keys

    def _key_text(self) -> str:
        try:
            if stat.S_IMODE(self.key_file.stat().st_mode) & 0o077:
                raise ConfigError(f"other users can read the key file {self.key_file}", f"chmod 600 {self.key_file}")
            return self.key_file.read_text(encoding="ascii")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise ConfigError(
                f"the key file {self.key_file} cannot be read: {reason}", "it must be a text file with keys, readable by this user alone"
            ) from error

    def _key_location(self) -> str:
        return "the environment" if self._keys else str(self.key_file)

    def _seal(self, secrets: dict[str, str], keys: Sequence[str]) -> None:
        replace_file(self.path, Fernet(keys[0]).encrypt(json.dumps(secrets, sort_keys=True).encode()))

    def _write_keys(self, keys: Sequence[str]) -> None:
        self.key_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(self.key_file, "\n".join([*keys, ""]).encode())

    def _locked(self) -> FileLock:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(f"{self.path}.lock")


def new_key() -> str:
    """Generate a key for the sealed file."""
    return Fernet.generate_key().decode()
