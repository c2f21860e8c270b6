"""Requested erasures. Each is a file in the folder `erasing` until it is finished: it alone contains what is to be erased."""

import hashlib
import hmac
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import msgspec

from lineage_bridge.config import DataFolder, Settings
from lineage_bridge.errors import RequestError
from lineage_bridge.eventlog.disk import replace_file
from lineage_bridge.eventlog.erasing.selection import check_request
from lineage_bridge.model.erasing.erasure import PERSON, WAITING, ErasureReport, ErasureRequest
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.erasures import ErasureRepository
from lineage_bridge.wiring.processes import now_us
from lineage_bridge.wiring.shared import state_database

_REQUESTS = msgspec.json.Decoder(ErasureRequest)


class ErasureRequests:
    """Implements `ports.ErasureService` over the state database and the folder of requests."""

    def __init__(self, state: StateDatabase, folder: Path, clock_us: Callable[[], int]) -> None:
        self._state, self._folder, self._clock_us = state, folder, clock_us
        self._repository = ErasureRepository(state)

    def request(self, kind: str, name: str, namespace: str, dry_run: bool, requested_by: str = "") -> ErasureReport:
        """Note that something is to be erased, durably. Returns the report of the erasure, which has not begun. Raises RequestError,
        StoreError.
        """
        name = name.strip() if kind == PERSON else name
        request = ErasureRequest(str(uuid4()), kind, name, namespace, dry_run)
        check_request(request)
        digest = digest_of(request, self._state.key())
        report = ErasureReport(request.id, kind, digest, self._clock_us(), requested_by, WAITING, dry_run)
        self._repository.save(report)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        replace_file(self._folder / f"{request.id}.json", msgspec.json.encode(request))
        return report

    def records(self, limit: int, offset: int = 0) -> list[ErasureReport]:
        """Erasures, the newest first."""
        return self._repository.records(limit, offset)

    def record(self, erasure_id: str) -> ErasureReport:
        """The report of an erasure. Raises NotFoundError."""
        return self._repository.record(erasure_id)


def erasure_requests(settings: Settings) -> ErasureRequests:
    """The requests of a data folder."""
    return ErasureRequests(state_database(settings), settings.paths.erasing, now_us)


def waiting_requests(paths: DataFolder) -> list[ErasureRequest]:
    """The requests that are not finished. Raises RequestError for a file that is not a request."""
    found = map(_read, sorted(paths.erasing.glob("*.json")))
    return [request for request in found if request is not None]


def _read(file: Path) -> ErasureRequest | None:
    """The request in a file; None if it was finished meanwhile."""
    try:
        return _REQUESTS.decode(file.read_bytes())
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise RequestError(f"{file} is not a request to erase something", "remove the file, and request the erasure again") from error


def drop_request(paths: DataFolder, erasure: str) -> None:
    """Remove the file of a finished request."""
    (paths.erasing / f"{erasure}.json").unlink(missing_ok=True)


def digest_of(request: ErasureRequest, key: bytes) -> str:
    """What a report says instead of what was erased: an HMAC-SHA256 with the installation's key, as hexadecimal digits. The case of a
    person's identifier does not count.
    """
    name = request.name.casefold() if request.kind == PERSON else request.name
    text = msgspec.json.encode(["erasure", request.kind, request.namespace, name])
    return hmac.new(key, text, hashlib.sha256).hexdigest()
