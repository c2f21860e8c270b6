"""Secrets sealed in one file, under keys that the user holds.

The file is a Fernet token (AES-128-CBC with HMAC-SHA256) of a JSON object, name to secret. Of several keys the first seals, and each opens.
What cannot be opened is never written over. Each change is written beside the file, made durable and then given its name.
"""

import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from filelock import FileLock

from lineage_bridge.errors import ConfigError, NotFoundError, RequestError
from lineage_bridge.eventlog.disk import LocalDisk

_DISK = LocalDisk()


class SealedFile:
    """The secrets sealed at `path`. Keys are text, separated by white space or commas: `keys`, or, if that is empty, what `key_file` holds.

    Everything raises ConfigError when the keys or the file cannot be read, or do not fit each other; no error holds a key or a secret.
    """

    def __init__(self, path: Path, key_file: Path, keys: str = "") -> None:
        self.path, self.key_file = path, key_file
        self._keys = keys

    def secret(self, name: str) -> str:
        """One secret."""
        found = self._opened().get(name)
        if found is None:
            raise ConfigError(f"{self.path} holds no secret {name}", f"lineage-bridge secret set {name}")
        return found

    def names(self) -> list[str]:
        """The names of all secrets, sorted."""
        return sorted(self._opened())

    def set(self, name: str, secret: str) -> None:
        """Seal a secret, whether there is one of that name or not."""
        with self._alone():
            self._seal({**self._opened(), name: secret}, self._read_keys())

    def remove(self, name: str) -> None:
        """Take a secret out. Raises NotFoundError."""
        with self._alone():
            kept = self._opened()
            if kept.pop(name, None) is None:
                raise NotFoundError(f"{self.path} holds no secret {name}", "lineage-bridge secret list")
            self._seal(kept, self._read_keys())

    def make_key(self) -> None:
        """Make the key file. Raises RequestError if there is one, or a file sealed with a key that is elsewhere."""
        with self._alone():
            if self._keys:
                raise RequestError("there is a key already, in the environment", "lineage-bridge secret rotate changes it")
            if self.key_file.exists():
                raise RequestError(f"there is a key already, in {self.key_file}", "lineage-bridge secret rotate changes it")
            if self.path.exists():
                raise RequestError(
                    f"{self.path} is sealed with a key that is not here", f"put that key into {self.key_file}, or remove the sealed file"
                )
            self._write_keys([new_key()])

    def rotate(self) -> None:
        """Seal everything with a new key, and forget the old ones.

        At any time the key file holds what opens the sealed file. Keys that are not in the file are the user's to change: then everything
        is sealed with the first of them. Raises RequestError when there is but one.
        """
        with self._alone():
            secrets, keys = self._opened(), self._read_keys()
            if self._keys:
                if len(keys) < 2:
                    raise RequestError(
                        "the key is in the environment, with no new one before it",
                        "lineage-bridge secret key --print makes one; put it before the old, separated by a comma",
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
            raise ConfigError(f"{self.path} cannot be read: {error.strerror}") from error
        try:
            opened = MultiFernet([Fernet(key) for key in self._read_keys()]).decrypt(sealed)
        except InvalidToken:
            raise ConfigError(
                f"{self.path} is not sealed with the key in {self._place()}, or is damaged", "put the right key there; nothing was changed"
            ) from None
        secrets: dict[str, str] = json.loads(opened)
        return secrets

    def _read_keys(self) -> list[str]:
        keys = (self._keys or self._key_text()).replace(",", " ").split()
        try:
            for key in keys:
                Fernet(key)
        except ValueError:
            raise ConfigError(f"what is in {self._place()} is no key", "lineage-bridge secret key --print makes one") from None
        if not keys:
            raise ConfigError(f"there is no key in {self._place()}", "lineage-bridge secret key")
        return keys

    def _key_text(self) -> str:
        try:
            if stat.S_IMODE(self.key_file.stat().st_mode) & 0o077:
                raise ConfigError(f"others may read the key file {self.key_file}", f"chmod 600 {self.key_file}")
            return self.key_file.read_text(encoding="ascii")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise ConfigError(f"the key file {self.key_file} cannot be read: {reason}") from error

    def _place(self) -> str:
        return "the environment" if self._keys else str(self.key_file)

    def _seal(self, secrets: dict[str, str], keys: Sequence[str]) -> None:
        _put(self.path, Fernet(keys[0]).encrypt(json.dumps(secrets, sort_keys=True).encode()))

    def _write_keys(self, keys: Sequence[str]) -> None:
        self.key_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _put(self.key_file, "\n".join([*keys, ""]).encode())

    def _alone(self) -> FileLock:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(f"{self.path}.lock")


def new_key() -> str:
    """A new key."""
    return Fernet.generate_key().decode()


def _put(path: Path, content: bytes) -> None:
    """Make a file, which only its owner may read, hold this: wholly, or what it held before."""
    beside = path.with_name(f"{path.name}.new")
    beside.unlink(missing_ok=True)
    written = _DISK.create(beside)
    try:
        done = 0
        while done < len(content):
            done += _DISK.write(written, [content[done:]], done)
        _DISK.sync(written)
    finally:
        os.close(written)
    beside.replace(path)
    _DISK.sync_directory(path.parent)
