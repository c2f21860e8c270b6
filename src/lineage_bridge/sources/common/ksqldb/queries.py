"""Reports the runs of ksqlDB's persistent queries. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from lineage_bridge.openlineage.event_builder import Json, RunContent, run_id
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.ksqldb.answers import KsqldbQuery
from lineage_bridge.sources.common.ksqldb.columns import columns_into, lineage
from lineage_bridge.sources.common.ksqldb.counting import counted
from lineage_bridge.sources.common.ksqldb.poll import ERROR, EVENTS, PAUSED, RUNNING, UNRESPONSIVE, KsqldbPoll, digest, group_of
from lineage_bridge.sources.common.ksqldb.statements import topics_of, window_of
from lineage_bridge.sources.common.observer import Unseen


class QueryEvents:
    """Builds the events of queries. `queries_after` and `ended` are parts of the next snapshot; `unseen`: what could not be observed."""

    def __init__(self, poll: KsqldbPoll) -> None:
        self.poll = poll
        self.queries_after: dict[str, Any] = {}
        self.ended: dict[str, int] = dict(poll.before["ended"])
        self.unseen: list[Unseen] = []
        self.read: dict[str, dict[str, int]] = {}
        """For each consumer group, its offsets on the brokers, by topic."""
        cluster = poll.shared.cluster(poll.state.cluster)
        for (group, topic), offset in cluster.read.items() if cluster else ():
            self.read.setdefault(group, {})[topic] = offset

    def query_events(self) -> Iterator[Json]:
        """Return the events of all queries in this poll."""
        for name, query in sorted(self.poll.state.queries.items()):
            yield from self._query(name, query, self.poll.before["queries"].get(name))
        for name, was in sorted(self.poll.before["queries"].items()):
            if name not in self.poll.state.queries and self.poll.may_exist(name):
                self.queries_after[name] = was
            elif name not in self.poll.state.queries:
                self.ended[name] = was["generation"] + 1
                if was["state"] != ERROR:
                    yield EVENTS.run_event("ABORT", self.poll.now_us, was["run"], self.poll.job(name))
        # ksqlDB never generates the same name twice.
        self.ended = {name: count for name, count in self.ended.items() if name in self.poll.state.queries or not _has_generated_name(name)}

    def _query(self, name: str, query: KsqldbQuery, was: Mapping[str, Any] | None) -> Iterator[Json]:
        job, state = self.poll.job(name), self._state(query)
        hidden = sorted(filter(self.poll.is_hidden, {*query.sources, *query.sinks} - self.poll.state.relations.keys()))
        if hidden:
            self.unseen.append(Unseen(f"query {name}", f"the description of {', '.join(hidden)} cannot be read"))
        if state is None or hidden:
            if was is not None:
                self.queries_after[name] = was
            return
        content = self._run_content(name, query)
        shape = digest({"text": query.text, "inputs": content.inputs, "outputs": content.outputs})
        generation = was["generation"] if was else self.ended.get(name, 0)
        if was is not None and was["shape"] != shape:
            generation += 1
            if was["state"] != ERROR:
                yield EVENTS.run_event("COMPLETE", self.poll.now_us - 2, was["run"], job)
            was = None
        run = str(run_id("ksqldb", self.poll.state.service or self.poll.names.queries, name, digest({"text": query.text}), generation))
        health = {"state": state, "hosts": dict(sorted(query.hosts.items()))}
        counts, *amounts = counted(query, self.poll.state, self._offsets(name), was["counts"] if was else None)
        entry = {
            "run": run,
            "shape": shape,
            "generation": generation,
            "state": state,
            "health": digest(health),
            "told": digest(content._asdict()),
            "counts": counts,
        }
        self.queries_after[name] = entry
        if was is None:
            yield EVENTS.run_event("START", self.poll.now_us - 1, run, job, **content._asdict())
            if state in (ERROR, PAUSED):
                facets = self._health_facets(state, query, health)
                yield EVENTS.run_event("FAIL" if state == ERROR else "RUNNING", self.poll.now_us, run, job, run_facets=facets)
        elif state != ERROR or was["state"] != ERROR:
            yield self._heartbeat(job, query, was, entry, content, health, amounts)

    def _heartbeat(
        self,
        job: DatasetName,
        query: KsqldbQuery,
        was: Mapping[str, Any],
        entry: Mapping[str, Any],
        content: RunContent,
        health: Mapping[str, Any],
        amounts: list[dict[str, Json]],
    ) -> Json:
        """Return an event of a run that was reported before, with what is new in it and the statistics."""
        state = entry["state"]
        changed = content if was["told"] != entry["told"] else content.names_only()
        facets = changed.run_facets
        if was["health"] != entry["health"] or state == ERROR:
            facets = {**facets, **self._health_facets(state, query, health)}
        inputs, outputs = changed.inputs, changed.outputs
        if state == RUNNING:
            inputs, outputs = _add_statistics(inputs, "inputFacets", amounts[0]), _add_statistics(outputs, "outputFacets", amounts[1])
        changed = changed._replace(run_facets=facets, inputs=inputs, outputs=outputs)
        return EVENTS.run_event("FAIL" if state == ERROR else "RUNNING", self.poll.now_us, entry["run"], job, **changed._asdict())

    def _offsets(self, query: str) -> Mapping[str, int]:
        """Return the committed offsets of a query's group by topic: those that ksqlDB reports, else those that the brokers report."""
        group = group_of(self.poll.state.service, query)
        return self.poll.state.committed.get(group) or self.read.get(group, {})

    def _state(self, query: KsqldbQuery) -> str | None:
        """Return the state of a query on all hosts together: ERROR only if it failed on all, None if no host answers."""
        states_by_host = {host: state for host, state in query.hosts.items() if state != UNRESPONSIVE}
        if query.hosts and not states_by_host:
            self.unseen.append(
                Unseen(f"query {query.id}: state", f"the host {', '.join(sorted(query.hosts))} does not answer the other hosts")
            )
            return None
        self.unseen += [
            Unseen(f"query {query.id}: host {host}", "the host does not answer the other hosts")
            for host in sorted(query.hosts.keys() - states_by_host)
        ]
        states = set(states_by_host.values()) or {query.state}
        if states <= {ERROR}:
            return ERROR
        return PAUSED if states <= {PAUSED, ERROR} else RUNNING

    def _health_facets(self, state: str, query: KsqldbQuery, health: Mapping[str, Any]) -> dict[str, Json]:
        facets = {"ksqldb_state": EVENTS.own_facet("1-0-0", "KsqldbStateRunFacet", **health)}
        if ERROR in (state, *query.hosts.values()) and query.errors:
            facets["errorMessage"] = EVENTS.error_message(mask_text(query.errors[-1]), mask_text("\n".join(query.errors)))
        elif state == ERROR:
            facets["errorMessage"] = EVENTS.error_message("the query is in state ERROR; ksqlDB does not report why", "")
        return facets

    def _run_content(self, query_name: str, query: KsqldbQuery) -> RunContent:
        """Return the facets and datasets of the run of a query."""
        state, group = self.poll.state, group_of(self.poll.state.service, query_name)
        topology = topics_of(query.topology, group)
        near = {name: state.relations[name] for name in (*query.sources, *query.sinks) if name in state.relations}
        found = lineage(query.text, near)
        read = {self.poll.datasets[name] for name in query.sources if name in self.poll.datasets} | {
            (self.poll.namespace, topic) for topic in topology.read
        }
        sink_topics = {name: self.poll.datasets[name] for name in query.sinks if name in self.poll.datasets}
        written = (set(sink_topics.values()) | {(self.poll.namespace, topic) for topic in topology.written}) - read
        members = {"internal": list(topology.internal), "properties": _masked(query.properties)}
        job: dict[str, Json] = {
            "jobType": EVENTS.job_type("STREAMING", "KSQLDB", "QUERY", self.poll.settings.heartbeat_s),
            "sql": EVENTS.sql(mask_text(query.text), "ksqldb"),
            "ksqldb_query": EVENTS.own_facet(
                "1-0-0",
                "KsqldbQueryJobFacet",
                query=query_name,
                service=state.service,
                group=group,
                sources=list(query.sources),
                sinks=list(query.sinks),
                **{key: value for key, value in members.items() if value},
            ),
        }
        if window := window_of(query.window, query.text):
            job["ksqldb_window"] = EVENTS.own_facet("1-0-0", "KsqldbWindowJobFacet", **window)
        run: dict[str, Json] = {"processing_engine": EVENTS.processing_engine("ksqlDB", state.version)}
        if found.errors:
            errors: list[Json] = [{"errorMessage": f"line {error.line}, column {error.column}: {error.message}"} for error in found.errors]
            run["extractionError"] = EVENTS.extraction_error(1, 1, errors)
        outputs = []
        for topic in sorted(written):
            sinks = [sink for sink, dataset in sink_topics.items() if dataset == topic]
            into, deciding = columns_into(sinks[0], found, state.relations, self.poll.datasets, self.poll.shared) if sinks else ({}, [])
            facets = {"columnLineage": EVENTS.column_lineage(into, deciding)} if into or deciding else {}
            outputs.append(EVENTS.dataset(topic, facets))
        return RunContent(run, job, [EVENTS.dataset(topic) for topic in sorted(read)], outputs)


def _add_statistics(side: list[Json], key: str, statistics: Mapping[str, Json]) -> list[Json]:
    return [{**dataset, key: statistics[str(dataset["name"])]} if dataset["name"] in statistics else dataset for dataset in side]


def _masked(properties: Mapping[str, Any]) -> dict[str, str]:
    """The settings of a query, with secrets masked."""
    return {key: mask_text(f"{key}={value}").partition("=")[2] for key, value in sorted(properties.items())}


def _has_generated_name(query: str) -> bool:
    return query.startswith(("CSAS_", "CTAS_", "CST_", "INSERTQUERY_")) and query.rpartition("_")[2].isdigit()
