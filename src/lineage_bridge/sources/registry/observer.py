"""The observer of a schema registry."""

from collections.abc import Callable, Iterator

from lineage_bridge.errors import MissingError, SourceError
from lineage_bridge.sources.common.observer import Check, Observation, Observer, Snapshot, SourceKind
from lineage_bridge.sources.common.registry.client import RegistryClient
from lineage_bridge.sources.common.registry.settings import RegistrySettings
from lineage_bridge.sources.common.registry.translate import shared_metadata, subjects_in, translate
from lineage_bridge.sources.common.shared_metadata import SharedMetadata


class RegistryObserver(Observer[RegistrySettings]):
    """Reports the schemas of topics that a registry has."""

    def __init__(self, name: str, settings: RegistrySettings) -> None:
        super().__init__(name, settings)
        self._client = RegistryClient(settings)

    def test(self) -> Iterator[Check]:
        """Fetch the subjects, one schema and the compatibility. Then try the calls that some registries do not support."""
        try:
            subjects = self._client.subjects()
        except SourceError as error:
            yield Check("subjects", False, str(error), error.hint)
            return
        yield Check("subjects", True, f"{len(subjects)} selected")
        if subjects:
            yield _checked("schemas", lambda: f"the newest of {subjects[0]} is version {self._client.newest(subjects[0]).version}")
        get = self._client.http.get
        yield _checked("compatibility", lambda: f"{get('/config')['compatibilityLevel']} unless a subject has its own")
        yield _checked(
            "all schemas at once", lambda: f"{len(get('/schemas', latestOnly='true', limit=1))} listed", "each subject is fetched"
        )
        yield _checked("mode", lambda: str(get("/mode")["mode"]), "modes are not reported")
        if self.settings.catalog:
            asked = {"type": "kafka_topic", "tag": "*", "limit": 1}
            yield _checked("stream catalog", lambda: "it answers" if get("/catalog/v1/search/basic", **asked) else "it is empty")
        yield _checked("contexts", lambda: ", ".join(map(str, get("/contexts"))), "there is one context")

    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Poll once: fetch the listing, new versions, and the compatibility of some subjects. Raises SourceError."""
        turn = int(before["turn"]) + 1 if before else 0
        seen = translate(self._client.look(subjects_in(before), turn), before, shared, now_us, self.settings)
        return Observation({**seen.snapshot, "turn": turn}, seen.events, unseen=seen.unseen)

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the schemas of topics."""
        return shared_metadata(snapshot)

    def close(self) -> None:
        """Close all connections."""
        self._client.http.close()


def _checked(step: str, look: Callable[[], str], without: str = "") -> Check:
    """Try one step of the test. If the registry does not support the call, the step passes, with the note `without`: what will be
    missing.
    """
    try:
        return Check(step, True, look())
    except MissingError as error:
        return (
            Check(step, True, f"the registry does not support this: {without}") if without else Check(step, False, str(error), error.hint)
        )
    except SourceError as error:
        return Check(step, False, str(error), error.hint)
    except (KeyError, TypeError) as error:
        return Check(step, False, f"an answer of the registry lacks the member {error}", "check that it is a registry with Confluent's API")


KIND = SourceKind(RegistrySettings, RegistryObserver, "a schema registry: Confluent, Apicurio, Karapace")
