"""Client of the REST API of a Kafka Connect worker. It fetches one listing, then for each connector only what the listing lacks.

A poll takes 3 requests, and for each running connector one for its topics and one for its offsets. A new or changed connector takes one
more for its tasks, a new class or version of a plugin one more.
"""

from collections.abc import Collection, Mapping
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import quote

from lineage_bridge.errors import ForbiddenError, MissingError, SourceError, UnreachableError
from lineage_bridge.sources.common.connect.generation import is_same, plugins_known, plugins_of
from lineage_bridge.sources.common.connect.settings import ConnectSettings
from lineage_bridge.sources.common.connect.worker import RUNNING, ConnectorDetail, ConnectorState, Plugin, RunStatus, WorkerState
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Unseen

PATIENCE = 3
"""After this many timeouts in one poll, no more details are requested from the worker."""
OFFSETS, TOPICS, TASKS = "offsets", "topics", "tasks"
_AnswerT = TypeVar("_AnswerT", bound="list[Any] | dict[str, Any]")


class ConnectClient:
    """A client of a worker's REST API. `settings` select the connectors."""

    def __init__(self, settings: ConnectSettings) -> None:
        self.settings, self.http = settings, HttpClient(settings)
        self._silent, self._counting = 0, Lock()

    def root(self) -> tuple[str, str]:
        """Fetch the worker's version, and the id of its Kafka cluster. Raises SourceError."""
        answer = _expect(self.http.get("/"), dict, "GET /")
        return str(answer.get("version", "")), str(answer.get("kafka_cluster_id", ""))

    def connectors(self) -> tuple[dict[str, ConnectorState], frozenset[str]]:
        """Fetch the selected connectors, and the names of those listed without details. Raises SourceError."""
        path = "/connectors"
        answer = _expect(self.http.get(path, expand=["info", "status"]), dict, "GET /connectors?expand=info&expand=status")
        selected = {name: entry for name, entry in answer.items() if self.settings.matters(name)}
        seen = {name: read_connector(name, entry) for name, entry in sorted(selected.items())}
        return {name: connector for name, connector in seen.items() if connector is not None}, frozenset(
            name for name, connector in seen.items() if connector is None
        )

    def names(self) -> frozenset[str]:
        """Fetch the names of all selected connectors. Raises SourceError."""
        answer = _expect(self.http.get("/connectors"), list, "GET /connectors")
        return frozenset(name for name in map(str, answer) if self.settings.matters(name))

    def plugins(self) -> list[Plugin]:
        """Fetch all plugins of the worker, without their passwords. Raises SourceError."""
        answer = _expect(self.http.get("/connector-plugins", connectorsOnly="false"), list, "GET /connector-plugins")
        entries = [entry for entry in answer if isinstance(entry, dict)]
        return [Plugin(str(entry.get("class", "")), str(entry.get("version") or "")) for entry in entries]

    def passwords(self, plugin: Plugin) -> Plugin:
        """Fetch the keys of a plugin's settings that have the type PASSWORD; None if the worker does not report them. Raises
        SourceError.
        """
        path = f"/connector-plugins/{quote(plugin.name, safe='')}/config"
        try:
            answer = _expect(self.http.get(path), list, f"GET {path}")
        except MissingError:
            return plugin._replace(passwords=())
        keys = [str(entry.get("name")) for entry in answer if isinstance(entry, dict) and entry.get("type") == "PASSWORD"]
        return plugin._replace(passwords=tuple(sorted(keys)))

    def ask(self, name: str, what: str) -> Any:  # noqa: ANN401  # JSON
        """Fetch the tasks, topics or offsets of a connector. Raises SourceError, without sending a request if too many have timed
        out in this poll.
        """
        if self._silent >= PATIENCE:
            raise UnreachableError(f"not fetched, because {PATIENCE} other calls to the worker timed out", "the next poll tries again")
        try:
            return self.http.get(f"/connectors/{quote(name, safe='')}/{what}")
        except UnreachableError:
            with self._counting:
                self._silent += 1
            raise

    def begin(self) -> None:
        """Start a poll: reset the count of timeouts."""
        self._silent = 0


def read_connector(name: str, entry: object) -> ConnectorState | None:
    """Parse a connector in the expanded listing; None if its configuration or status is missing."""
    info, status = (_dict(_dict(entry).get(key)) for key in ("info", "status"))
    config, own = info.get("config"), status.get("connector")
    if not isinstance(config, dict) or not isinstance(own, dict) or "state" not in own:
        return None
    tasks = [task for task in _list(status.get("tasks")) if isinstance(task, dict)]
    settings = {str(key): str(value) for key, value in config.items() if value is not None}
    numbered = {int(task["id"]): _run_status(task) for task in tasks if str(task.get("id", "")).isdigit()}
    return ConnectorState(name, settings, str(info.get("type") or status.get("type") or "").lower(), _run_status(own), numbered)


def read_given(answer: object, config: Mapping[str, str]) -> tuple[Mapping[str, str], ...]:
    """For each task, in order, parse the settings that the connector's configuration does not have. Raises SourceError."""
    entries = [_dict(_dict(entry).get("config")) for entry in _expect(answer, list, "GET /connectors/NAME/tasks")]
    return tuple({str(k): str(v) for k, v in sorted(entry.items()) if v is not None and config.get(k) != str(v)} for entry in entries)


def read_topics(answer: object, name: str) -> tuple[str, ...]:
    """Parse the topics that a connector used, in order. Raises SourceError."""
    entry = _expect(answer, dict, "GET /connectors/NAME/topics").get(name)
    return tuple(sorted(str(topic) for topic in _expect(_dict(entry).get("topics"), list, "GET /connectors/NAME/topics")))


def read_offsets(answer: object) -> tuple[Mapping[str, Any], ...]:
    """Parse the offsets of a connector. Raises SourceError."""
    entries = _expect(_expect(answer, dict, "GET /connectors/NAME/offsets").get("offsets"), list, "GET /connectors/NAME/offsets")
    return tuple(entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("partition"), dict))


def fetch_state(worker: ConnectClient, before: Mapping[str, Any]) -> WorkerState:
    """Poll the worker once. What the previous snapshot (`before`) already has is not fetched again. Raises SourceError if nothing could
    be fetched.
    """
    worker.begin()
    version, cluster = worker.root()
    connectors, withheld = worker.connectors()
    unseen = [Unseen(f"connector {name}", "the worker only reported a part of it") for name in sorted(withheld)]
    try:
        listed: frozenset[str] | None = worker.names() | connectors.keys() | withheld
    except SourceError as error:
        listed = None
        unseen.append(Unseen("list of connectors", str(error)))
    missing = sorted((listed or frozenset()) - connectors.keys() - withheld)
    unseen += [Unseen(f"connector {name}", "the worker lists it without details") for name in missing]
    plugins, unanswered = _plugins(worker, connectors.values(), before, version)
    details, unsupported, failed = _details(worker, connectors, before, plugins)
    return WorkerState(version, cluster, connectors, listed, details, plugins, unsupported, (*unseen, *unanswered, *failed))


def _plugins(
    worker: ConnectClient, connectors: Collection[ConnectorState], before: Mapping[str, Any], version: str
) -> tuple[dict[str, Plugin], list[Unseen]]:
    """Return the plugins in use by the names in configurations. Only plugins that are not known yet are fetched."""
    known = plugins_known(before) if before.get("version") == version else {}
    used = sorted({name for connector in connectors for name in plugins_of(connector.config).values()})
    versions = {
        connector.config.get("connector.class", "").strip(): connector.status.version
        for connector in connectors
        if connector.status.version
    }
    unknown = [name for name in used if name not in known or known[name].version != versions.get(name, known[name].version)]
    found = {name: known[name] for name in used if name not in unknown}
    if not unknown:
        return found, []
    try:
        installed = worker.plugins()
    except SourceError as error:
        return {**found, **{name: known[name] for name in unknown if name in known}}, [Unseen("connector plugins", str(error))]
    asked = {name: _installed(name, installed) for name in unknown}
    there = [plugin for plugin in asked.values() if plugin is not None]
    unseen, plugins = [], dict.fromkeys(unknown, Plugin("", "", ()))
    answers = iter(worker.http.map(worker.passwords, there))
    for name, plugin in asked.items():
        answer = next(answers) if plugin is not None else Plugin(name, "", ())
        if isinstance(answer, SourceError):
            unseen.append(Unseen(f"plugin {name}: its passwords", str(answer)))
            plugins.pop(name)
        else:
            plugins[name] = answer
    return {**found, **plugins}, unseen


def _installed(name: str, installed: Collection[Plugin]) -> Plugin | None:
    """Return the installed plugin that a name in a configuration means: a class name, or its last part, with or without `Connector` at
    the end.
    """
    short = name.rpartition(".")[2].rpartition("$")[2]
    bare = {plugin: plugin.name.rpartition(".")[2] for plugin in installed}
    exact = [plugin for plugin in installed if plugin.name == name]
    alike = [plugin for plugin, alias in bare.items() if short == name and name in (alias, alias.removesuffix("Connector"))]
    return next(iter(sorted(exact) or sorted(alike)), None)


def _details(
    worker: ConnectClient, connectors: Mapping[str, ConnectorState], before: Mapping[str, Any], plugins: Mapping[str, Plugin]
) -> tuple[dict[str, ConnectorDetail], frozenset[str], list[Unseen]]:
    """Return the details of each connector, the calls that the worker does not support, and the calls that failed."""
    known, earlier = before.get("connectors", {}), plugins_known(before)
    asked = {name: _asked(connector, known.get(name), plugins, earlier) for name, connector in connectors.items()}
    details, unseen, unsupported = dict.fromkeys(connectors, ConnectorDetail()), [], set()
    for what in (TASKS, TOPICS, OFFSETS):
        names = [name for name in connectors if what in asked[name]]
        answers = _answers(worker, what, names, is_lacking=what in before.get("lacks", ()))
        refusals = [answer for answer in answers.values() if isinstance(answer, MissingError | ForbiddenError)]
        if refusals and len(refusals) == len(answers):
            unsupported.add(what)
            unseen.append(Unseen(f"connectors' {what}", f"the worker rejects them all: {refusals[0]}"))
            continue
        for name, answer in answers.items():
            detail = _add_answer(details[name], name, what, answer, connectors[name].config)
            if isinstance(detail, SourceError):
                unseen.append(Unseen(f"connector {name}: {what}", str(detail)))
            else:
                details[name] = detail
    return details, frozenset(unsupported), unseen


def _answers(worker: ConnectClient, what: str, names: list[str], *, is_lacking: bool) -> dict[str, Any]:
    """Make a call for several connectors; returns the answer or error of each. A call that the worker did not support at the last poll
    is first tried for a single connector.
    """
    first = names[:1] if is_lacking else names
    answers = dict(zip(first, worker.http.map(lambda name: worker.ask(name, what), first), strict=True))
    if len(first) == len(names) or isinstance(answers[first[0]], MissingError | ForbiddenError):
        return answers
    return answers | dict(zip(names[1:], worker.http.map(lambda name: worker.ask(name, what), names[1:]), strict=True))


def _asked(
    connector: ConnectorState, known: Mapping[str, Any] | None, plugins: Mapping[str, Plugin], earlier: Mapping[str, Plugin]
) -> list[str]:
    """Return what to fetch for a connector: its tasks if it is new or changed, its topics and offsets while they can change or are
    unknown.
    """
    changed = (
        known is None or known.get("ids", []) != sorted(connector.tasks) or not is_same(known["config"], connector.config, plugins, earlier)
    )
    moves = any(task.state == RUNNING for task in connector.tasks.values())
    lively = [TOPICS, OFFSETS] if moves or changed else []
    is_unread = known is None or "given" not in known
    return [TASKS, *lively] if connector.tasks and (changed or is_unread) else lively


def _add_answer(detail: ConnectorDetail, name: str, what: str, answer: object, config: Mapping[str, str]) -> ConnectorDetail | SourceError:
    """Add the answer of a call to the details of a connector. Return the error instead if the call failed or its answer cannot be read."""
    if isinstance(answer, SourceError):
        return answer
    try:
        if what == TASKS:
            return detail._replace(given=read_given(answer, config))
        return detail._replace(topics=read_topics(answer, name)) if what == TOPICS else detail._replace(offsets=read_offsets(answer))
    except SourceError as error:
        return error


def _expect(answer: object, kind: type[_AnswerT], what: str) -> _AnswerT:
    """Check that an answer has this JSON type, and return it. Raises SourceError otherwise."""
    if not isinstance(answer, kind):
        hint = "check that the address is that of Kafka Connect's REST API, version 2.3 or later"
        raise SourceError(f"{what} answered {type(answer).__name__}, not {kind.__name__}", hint)
    return answer


def _run_status(entry: Mapping[str, Any]) -> RunStatus:
    return RunStatus(*(str(entry.get(key) or "") for key in ("state", "worker_id", "trace", "version")))


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
