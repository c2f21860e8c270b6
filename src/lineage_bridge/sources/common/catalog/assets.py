"""Assets of a data catalog, and the events that state them. Pure.

What a catalog states about a dataset is sent in DatasetEvents with the facet `lineagebridge_catalog`, so that statements of producers take
precedence over it. JobEvents have it too: what a catalog has stated is not published back to that catalog.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, digest_of, encode
from lineage_bridge.openlineage.facets.from_catalog import FROM_CATALOG
from lineage_bridge.openlineage.naming import DatasetName

_PRODUCER = "https://lineagebridge.dev/sources"


class Asset(NamedTuple):
    """One asset of a catalog: a dataset with its facets, or a job (`is_job`) with its facets, inputs and outputs."""

    name: DatasetName
    facets: Mapping[str, Json]
    is_job: bool = False
    inputs: tuple[Json, ...] = ()
    outputs: tuple[Json, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the catalog states nothing about the asset."""
        return not (self.facets or self.inputs or self.outputs)

    @property
    def size(self) -> int:
        """The size of what the catalog states about the asset, in bytes of JSON."""
        return len(encode({"facets": self.facets, "inputs": self.inputs, "outputs": self.outputs}))


class AssetRecord(NamedTuple):
    """An asset as the last poll that changed it reported it. `walk`: the number of the last walk that listed it."""

    namespace: str
    name: str
    is_job: bool
    facets: tuple[str, ...]
    digest: str
    walk: int

    @property
    def names(self) -> tuple[bool, str, str]:
        """The key of the dataset or job that the asset is. Two assets with the same key are the same dataset or job."""
        return self.is_job, self.namespace, self.name


class AssetEvents:
    """Makes the events of one source's assets. Each source counts as a separate producer, so that no source replaces statements of another
    one. `address` identifies the catalog among those of its kind; all sources that read this catalog use the same text.
    """

    def __init__(self, kind: str, source: str, address: Callable[[DatasetName], str]) -> None:
        self._kind, self._address = kind, address
        self._events = EventBuilder(f"{_PRODUCER}/{kind}/{source}")

    def changed(self, asset: Asset, was: AssetRecord | None, walk: int, now_us: int) -> tuple[AssetRecord, list[Json]]:
        """An asset's record, and its events if anything differs from the previous record."""
        digest = digest_of([*asset, self._address(asset.name)])
        if was and was.digest == digest:
            return was._replace(walk=walk), []
        record = AssetRecord(*asset.name, asset.is_job, tuple(sorted(asset.facets)), digest, walk)
        before = [self.gone(was, now_us)] if was and was.names != record.names else []
        ended = set(was.facets) - asset.facets.keys() if was and not before else set()
        return record, [*before, self._event(asset, ended, now_us)]

    def stated(self, asset: Asset, at_us: int) -> Json:
        """The event that states an asset, dated at the time since which the asset has its present form (UTC microseconds)."""
        return self._event(asset, (), at_us)

    def gone(self, was: AssetRecord, now_us: int) -> Json:
        """The event of an asset that is no longer in the catalog. It deletes the facets that this source stated; the dataset itself does
        not end.
        """
        ended = {*was.facets, FROM_CATALOG, *(("lineage",) if was.is_job else ())}
        return self._event(Asset((was.namespace, was.name), {}, was.is_job), ended, now_us)

    def _event(self, asset: Asset, ended: Iterable[str], now_us: int) -> Json:
        kind = "Job" if asset.is_job else "Dataset"
        whose = {"catalog": self._kind, "address": self._address(asset.name)}
        mark = self._events.own_facet("1-0-0", f"LineageBridgeCatalog{kind}Facet", **whose)
        deleted = self._events.deleted_facet()
        gone = {key: {**deleted, **whose} if key == FROM_CATALOG else deleted for key in sorted(ended)}
        facets = {FROM_CATALOG: mark, **asset.facets, **gone}
        if asset.is_job:
            return self._events.job_event(now_us, asset.name, job_facets=facets, inputs=asset.inputs, outputs=asset.outputs)
        return self._events.dataset_event(now_us, asset.name, facets)
