"""The chain of entries in the audit trail. The digest of each entry covers the previous entry, so no entry can be changed, removed or
inserted unnoticed.

The digest covers a change through a commitment: a hash of it with a random salt. Erasing a change removes its text and its salt, so that
the text cannot be guessed; the commitment stays in the chain.
"""

import hashlib
import hmac
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from lineage_bridge.errors import RequestError
from lineage_bridge.model.audit import NO_ENTRIES, AuditEntry, AuditHead, Change
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.access import AuditRepository

SALT_BYTES: Final = 16
MOST_CHARACTERS: Final = 4000
"""How many characters each text of a change may have; the rest is cut off. Characters that are not valid Unicode are replaced."""


class HashChain:
    """Implements `ports.AuditTrail`. `random_bytes` makes salts. `publish` is called with each new head of the chain, to store it
    elsewhere.
    """

    def __init__(
        self,
        repository: AuditRepository,
        clock_us: Callable[[], int],
        random_bytes: Callable[[int], bytes],
        publish: Callable[[AuditHead], None] = lambda _: None,
    ) -> None:
        self._repository, self._clock_us, self._random_bytes, self._publish = repository, clock_us, random_bytes, publish

    def record(self, change: Change) -> None:
        """Append an entry for a change to the trail."""
        self._publish_head(self._repository.append(self._link_of(change)))

    def newest(self, limit: int, below: int | None = None, principal: str | None = None, action: str | None = None) -> list[AuditEntry]:
        """Return entries of the trail, newest first."""
        return self._repository.newest(limit, below, principal, action)

    def faults(self, known: Iterable[AuditHead] = ()) -> Iterator[str]:
        """Verify the trail. Returns a message for each fault. `known`: heads that were stored elsewhere."""
        return faults(self._repository.all(), known)

    def erase(self, principal: str, by: Change) -> int:
        """Erase the changes that a principal made, and the changes of others that name the principal. In an erased entry, only the action
        may still contain the name.

        Raises StoreError if the erased text could not be overwritten in the database's files; the next call tries this again.
        """
        names = Mentions(principal)
        return self.erase_changes(lambda change: change.principal == principal or names.are_in(change), by)

    def erase_changes(self, is_erased: Callable[[Change], bool], by: Change) -> int:
        """Erase the changes that a condition selects, and record `by`, without its details if the condition selects it too. Returns how
        many were erased. Raises StoreError as `erase` does.
        """
        if is_erased(by):
            by = by._replace(origin="command", target="", details="")
        erased, entry = self._repository.erase(is_erased, self._link_of(by))
        self._publish_head(entry)
        self._repository.overwrite()
        return erased

    def _link_of(self, change: Change) -> Callable[[AuditHead], AuditEntry]:
        """Make a function that builds the entry for a change when it is given the current head of the chain."""
        cut = Change(*(text[:MOST_CHARACTERS].encode("utf-8", "replace").decode() for text in change))
        salt = self._random_bytes(SALT_BYTES)
        return lambda head: link(head, cut, self._clock_us(), salt)

    def _publish_head(self, entry: AuditEntry) -> None:
        self._publish(AuditHead(entry.sequence, entry.digest))


class Mentions:
    """Finds mentions of a name in changes: as a whole text, or between characters that cannot be part of a name."""

    def __init__(self, name: str) -> None:
        self._pattern = re.compile(rf"(?<![\w@+-])(?<![\w@+-]\.){re.escape(name)}(?![\w@+-]|\.\w)") if name else None

    def are_in(self, change: Change) -> bool:
        """Whether a change contains the name. Not searched are the change's action, which names a route, and the names of members in its
        details.
        """
        pattern, details = self._pattern, _strings_of(change.details)
        texts = (change.principal, change.origin, change.target, *details)
        return pattern is not None and any(pattern.search(text) for text in texts)


def _strings_of(details: str) -> list[str]:
    """The strings in the details of a change, which are JSON. If the details were cut off, and so are no longer JSON, the whole text is
    returned.
    """
    try:
        left, found = [json.loads(details)], []
        while left:
            value = left.pop()
            if isinstance(value, str):
                found.append(value)
            elif isinstance(value, dict):
                left.extend(value.values())
                found.extend(name for name in value if not name.isidentifier())
            elif isinstance(value, list):
                left.extend(value)
    except (ValueError, RecursionError):
        return [details]
    return found


def link(head: AuditHead, change: Change, at_us: int, salt: bytes) -> AuditEntry:
    """Build the entry for a change that follows the current head of the chain."""
    commitment = _commitment(change, salt)
    sequence = head.sequence + 1
    digest = _digest(head.digest, sequence, at_us, change.action, commitment)
    return AuditEntry(sequence, at_us, change.action, change, salt, commitment, digest)


def faults(entries: Iterable[AuditEntry], known: Iterable[AuditHead] = ()) -> Iterator[str]:
    """Verify the trail, and return one message for each fault."""
    expected: dict[int, set[bytes]] = defaultdict(set)
    for head in known:
        if head.sequence:
            expected[head.sequence].add(head.digest)
    before = NO_ENTRIES
    for entry in entries:
        if entry.sequence != before.sequence + 1:
            yield f"entries {before.sequence + 1} to {entry.sequence - 1} are missing"
        elif not hmac.compare_digest(entry.digest, _digest(before.digest, entry.sequence, entry.at_us, entry.action, entry.commitment)):
            yield f"entry {entry.sequence} or an entry before it is not as it was written"
        elif entry.change is not None and (
            entry.change.action != entry.action or not hmac.compare_digest(entry.commitment, _commitment(entry.change, entry.salt))
        ):
            yield f"the change of entry {entry.sequence} was altered"
        if expected.pop(entry.sequence, set()) - {entry.digest}:
            yield f"entry {entry.sequence} differs from the head that was kept"
        before = AuditHead(entry.sequence, entry.digest)
    if expected:
        yield f"the chain ends at entry {before.sequence}, but it had {max(expected)} entries before"


def format_head(head: AuditHead) -> str:
    """Write the head of the chain as text, so that it can be stored elsewhere: `12:9f...`."""
    return f"{head.sequence}:{head.digest.hex()}"


def parse_head(text: str) -> AuditHead:
    """Parse the text of a head that `format_head` wrote. Raises RequestError."""
    sequence, _, digest = text.strip().partition(":")
    try:
        head = AuditHead(int(sequence), bytes.fromhex(digest))
    except ValueError:
        head = AuditHead(-1, b"")
    if head.sequence < 0 or len(head.digest) != len(NO_ENTRIES.digest):
        raise RequestError(f"{text!r} is not the head of an audit trail", "give a text that `lineage-bridge audit head` printed")
    return head


def _commitment(change: Change, salt: bytes) -> bytes:
    return _hash(salt, *(text.encode() for text in change))


def _digest(before: bytes, sequence: int, at_us: int, action: str, commitment: bytes) -> bytes:
    return _hash(before, str(sequence).encode(), str(at_us).encode(), action.encode(), commitment)


def _hash(*parts: bytes) -> bytes:
    """The SHA-256 of some parts. Each is preceded by its length in eight bytes."""
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).digest()


def as_json(entry: AuditEntry) -> dict[str, object]:
    """An entry as answers and exports show it, with everything that its digest covers. An erased entry has no change and no salt."""
    change = entry.change
    erasable = {} if change is None else {**change._asdict(), "salt": entry.salt.hex()}
    return {
        "sequence": entry.sequence,
        "at": format_time(entry.at_us),
        "action": entry.action,
        **erasable,
        "erased": change is None,
        "commitment": entry.commitment.hex(),
        "digest": entry.digest.hex(),
    }
