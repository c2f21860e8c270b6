"""Lists a data catalog page by page, over several polls if one poll cannot report everything, and finds what changed and what is gone.

A walk consists of listings, such as datasets and then jobs. A poll continues the walk where the poll before ended, and begins a new one if
that had ended. An asset only counts as gone if a complete listing lacks it, and if the catalog, asked for this asset, answers that it does
not exist.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from lineage_bridge.errors import SourceError, StoppedError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.catalog.assets import Asset, AssetEvents, AssetRecord
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen

MOST_BYTES: Final = 16 << 20
"""How many bytes of changed assets one poll reports, beyond the page that reaches this number."""
MOST_PAGES: Final = 100_000
"""How many pages a listing may have."""
MOST_ASKED: Final = 2_000
"""The maximum number of assets for which one poll asks the catalog whether they exist, because a listing lacks them."""


class Page(NamedTuple):
    """A page of a listing: the assets by their ids in the catalog (None: listed, and not reported), and the cursor of the next page, empty
    on the last one. `unreadable`: how many entries have no usable id. `unseen`: the assets that are listed but could not be read.
    """

    assets: Sequence[tuple[str, Asset | None]]
    following: str
    unreadable: int = 0
    unseen: Sequence[Unseen] = ()


class CatalogListings(Protocol):
    """The listings of a catalog. Their order is that of `listings`. A poll reads at most `pages_at_once` pages.

    `asked_at_once`: the greatest number of assets that one call of `missing` asks about. A poll that has to stop does so between two calls.
    """

    pages_at_once: int
    asked_at_once: int

    @property
    def listings(self) -> Sequence[str]:
        """The names of the listings."""

    def page(self, listing: str, cursor: str) -> Page:
        """A page of a listing; the cursor of the first one is empty. Raises SourceError."""

    def missing(self, listing: str, ids: Sequence[str]) -> set[str]:
        """Ask the catalog which of these assets do not exist any more, and return their ids. Raises SourceError."""

    def selects(self, listing: str, id_: str) -> bool:
        """Whether the settings select an asset. The graph keeps what it has about an asset that is not selected."""

    def close(self) -> None:
        """Close all connections."""


class _Walk:
    """The state of a walk, which the snapshot keeps: its number, the listing and the cursor at which the next poll continues, and the
    records of all assets by listing and id.
    """

    def __init__(self, before: Snapshot | None, listings: Sequence[str]) -> None:
        state: Mapping[str, Any] = before or {}
        kept: Mapping[str, Mapping[str, Sequence[Any]]] = state.get("assets", {})
        self.records = {name: {id_: _record(found) for id_, found in kept.get(name, {}).items()} for name in (*listings, *kept)}
        self.number, self.listing, self.cursor = int(state.get("walk", 0)), str(state.get("listing", "")), str(state.get("cursor", ""))
        self.pages, self.asked = int(state.get("pages", 0)), dict(state.get("asked", {}))
        if self.listing not in listings:
            self.number += 1
            self.begin(next(iter(listings), ""))

    def begin(self, listing: str) -> None:
        """Go to the beginning of a listing. An empty name ends the walk."""
        self.listing, self.cursor, self.pages = listing, "", 0

    @property
    def snapshot(self) -> dict[str, Any]:
        """The state as JSON."""
        assets = {name: {id_: list(record) for id_, record in sorted(of.items())} for name, of in sorted(self.records.items())}
        position = {"walk": self.number, "listing": self.listing, "cursor": self.cursor, "pages": self.pages}
        return {**position, "asked": self.asked, "assets": assets}


class _Poll:
    """The results of one poll so far: events, what could not be read, errors of listings, and how many bytes of assets may still be
    reported.
    """

    def __init__(self, now_us: int) -> None:
        self.now_us, self.room, self.pages, self.has_read = now_us, MOST_BYTES, 0, False
        self.events: list[Json] = []
        self.unseen: list[Unseen] = []
        self.errors: list[SourceError] = []


class CatalogWalk:
    """Walks through one catalog. `unfinished`: the number of polls that could not report everything. Such a poll is soon followed by
    the next.

    `check_stop` is called before each page and each call of `missing`, and raises StoppedError if the poll is to end.
    """

    def __init__(self, catalog: CatalogListings, events: AssetEvents, check_stop: Callable[[], None] = lambda: None) -> None:
        self._catalog, self._events, self._check_stop = catalog, events, check_stop
        self.unfinished = 0

    def observe(self, before: Snapshot | None, now_us: int) -> Observation:
        """Poll once; see Observer."""
        walk, poll = _Walk(before, self._catalog.listings), _Poll(now_us)
        order = list(self._catalog.listings)
        for listing in order[order.index(walk.listing) :] if order else ():
            if listing != walk.listing:
                walk.begin(listing)
            error = self._list(walk, poll)
            if error is not None:
                poll.errors.append(error)
                poll.unseen.append(Unseen(listing, str(error), error.hint))
                continue
            if walk.cursor:
                self.unfinished += 1
                break
            self._end(walk, poll)
        if poll.errors and not poll.has_read:
            raise poll.errors[0]
        if not walk.cursor:
            walk.begin("")
        return Observation(walk.snapshot, tuple(poll.events), unseen=tuple(poll.unseen))

    def _list(self, walk: _Walk, poll: _Poll) -> SourceError | None:
        """Read a listing until its end or the limit of one poll. Unless there is an error, the cursor says where to continue; it is empty
        if nothing is left.
        """
        unreadable = 0
        try:
            for page in self._pages(walk):
                poll.has_read, unreadable = True, unreadable + page.unreadable
                poll.unseen += page.unseen
                for id_, asset in page.assets:
                    made = self._note(walk, id_, asset, poll.now_us)
                    poll.room -= asset.size if made and asset else 0
                    poll.events += made
                poll.pages += 1
                if poll.room <= 0 or poll.pages >= self._catalog.pages_at_once:
                    break
        except StoppedError:
            raise
        except SourceError as error:
            walk.begin(walk.listing)
            return error
        finally:
            if unreadable:
                poll.unseen.append(Unseen(f"{walk.listing}: entries without an id", f"{unreadable} entries"))
        return None

    def _end(self, walk: _Walk, poll: _Poll) -> None:
        """After a complete listing, find the assets that no longer exist."""
        gone, left, error = self._gone(walk, walk.listing)
        poll.events += [self._events.gone(record, poll.now_us) for record in gone]
        if error is not None:
            poll.unseen.append(Unseen(f"{walk.listing}: what is missing from the list", str(error), error.hint))
        self.unfinished += left

    def _pages(self, walk: _Walk) -> Iterator[Page]:
        """The remaining pages of the listing. If the cursor of the last poll has expired, the listing begins again."""
        is_resumed = bool(walk.cursor)
        while True:
            self._check_stop()
            try:
                page = self._catalog.page(walk.listing, walk.cursor)
            except SourceError as error:
                if not is_resumed or isinstance(error, StoppedError):
                    raise
                walk.begin(walk.listing)
                is_resumed = False
                continue
            walk.pages += 1
            if page.following and (page.following == walk.cursor or walk.pages >= MOST_PAGES):
                raise SourceError(f"the list of {walk.listing} has no end", "report it to the maker of the catalog")
            is_resumed, walk.cursor = False, page.following
            yield page
            if not page.following:
                return

    def _note(self, walk: _Walk, id_: str, asset: Asset | None, now_us: int) -> list[Json]:
        records = walk.records[walk.listing]
        was = records.get(id_)
        if asset is None:
            if was:
                records[id_] = was._replace(walk=walk.number)
            return []
        if asset.is_empty:
            return [self._events.gone(records.pop(id_), now_us)] if was else []
        records[id_], made = self._events.changed(asset, was, walk.number, now_us)
        return made

    def _gone(self, walk: _Walk, listing: str) -> tuple[list[AssetRecord], bool, SourceError | None]:
        """Ask the catalog about the assets that its listing lacks. Returns the records of those that no longer exist, whether more assets
        remain to be asked about, and the error if a call failed. If there are many such assets, each poll asks about some of them.
        """
        records = walk.records[listing]
        missing = sorted(id_ for id_, record in records.items() if record.walk != walk.number and self._catalog.selects(listing, id_))
        last = walk.asked.get(listing, "")
        asked = sorted(missing, key=lambda id_: (id_ <= last, id_))[:MOST_ASKED]
        absent: list[str] = []
        try:
            for at in range(0, len(asked), self._catalog.asked_at_once):
                self._check_stop()
                absent += sorted(self._catalog.missing(listing, asked[at : at + self._catalog.asked_at_once]))
        except StoppedError:
            raise
        except SourceError as error:
            return [], False, error
        walk.asked.pop(listing, None)
        if len(missing) > len(asked):
            walk.asked[listing] = asked[-1]
        ended = [records.pop(id_) for id_ in absent]
        names = {record.names for record in ended}
        for id_, record in records.items() if ended else ():
            if record.names in names:  # the catalog has the same dataset under another id, whose record states it again
                names.discard(record.names)
                records[id_] = record._replace(digest="")
        return [record for record in ended if record.names in names], bool(ended) and len(missing) > len(asked), None


def _record(found: Sequence[Any]) -> AssetRecord:
    namespace, name, is_job, facets, digest, walk = found
    return AssetRecord(namespace, name, is_job, tuple(facets), digest, walk)
