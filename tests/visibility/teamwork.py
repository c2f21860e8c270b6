"""Random graphs of several teams, in which every name and every text is a word of its own, and what one team may see of them, by hand."""

import json
import random
import uuid
from dataclasses import dataclass, field
from typing import Any

from tests.events import T0, columns, dataset_event, facet, job_event, run_event, schema

from lineage_bridge.graph.ids import DAY_US

OWN = ("kafka://own", "own-jobs")
HOUR_US = 3_600_000_000
Name = tuple[str, str]
"""Namespace and name."""


@dataclass
class Work:
    """A job with one run, and the words of its event."""

    job: Name
    inputs: list[Name]
    outputs: list[Name]
    run: str
    event: bytes = b""


@dataclass
class Scene:
    """Events of several teams."""

    jobs: list[Work] = field(default_factory=list)
    datasets: list[Name] = field(default_factory=list)
    described: dict[Name, bytes] = field(default_factory=dict)
    declared: list[tuple[Name, Name]] = field(default_factory=list)
    """Flows that a dataset declares of itself: source, target."""
    rejected: dict[Name, bytes] = field(default_factory=dict)
    later: list[tuple[Name, bytes]] = field(default_factory=list)
    """More events, each with the job or dataset that it is of."""
    related: list[tuple[Name, Name]] = field(default_factory=list)
    """What lies next to each other but for what jobs read and write in runs."""
    other_names: dict[Name, Name] = field(default_factory=dict)
    """Another name of a dataset, by which jobs name it too -> the name that its owner gave it."""

    @property
    def events(self) -> list[bytes]:
        return [*self.described.values(), *(work.event for work in self.jobs), *(event for _, event in self.later)]

    @property
    def names(self) -> list[Name]:
        """All names of datasets and jobs."""
        return [*self.datasets, *self.other_names, *(work.job for work in self.jobs)]

    # what the team that owns OWN may see

    def is_own(self, name: Name) -> bool:
        return self.other_names.get(name, name)[0] in OWN

    @property
    def own_names(self) -> set[Name]:
        return set(filter(self.is_own, self.names))

    @property
    def neighbours(self) -> set[Name]:
        """What lies next to one's own, beyond the border."""
        pairs = [(work.job, end) for work in self.jobs for end in (*work.inputs, *work.outputs)] + self.declared + self.related
        return {far for pair in pairs for near, far in (pair, pair[::-1]) if self.is_own(near) and not self.is_own(far)}

    @property
    def own_texts(self) -> str:
        """What one's own producers wrote."""
        own = [work.event for work in self.jobs if self.is_own(work.job)]
        own += [event for name, event in self.described.items() if self.is_own(name)]
        own += [event for name, event in (*self.rejected.items(), *self.later) if self.is_own(name)]
        return b"\n".join(own).decode()

    def reached(self, start: Name, *, down: bool) -> set[Name]:
        """The datasets on the way of the data, whoever owns them."""
        flows = [(a, b) for work in self.jobs for a in work.inputs for b in work.outputs] + self.declared
        steps = [(self.other_names.get(a, a), self.other_names.get(b, b)) for a, b in flows]
        found, frontier = {start}, [start]
        while frontier:
            here = frontier.pop()
            fresh = {b if down else a for a, b in steps if (a if down else b) == here} - found
            found |= fresh
            frontier += fresh
        return found


def make_scene(seed: int) -> Scene:
    """A graph of few enough nodes that the parts of several teams lie across each other."""
    chance = random.Random(seed)
    scene = Scene()
    spaces = ["kafka://own", "kafka://own", "kafka://theirs", "s3://lake"]
    scene.datasets = [("kafka://own", _word("mine", seed, 0)), ("kafka://theirs", _word("yours", seed, 0))]
    scene.datasets += [(chance.choice(spaces), _word("set", seed, number)) for number in range(5)]
    scene.other_names = {("s3://lake", _word("alias", seed, number)): scene.datasets[number] for number in (0, 1)}
    linked = {dataset: alias for alias, dataset in scene.other_names.items()}
    for name in scene.datasets:
        about: dict[str, Any] = {
            "schema": schema(f"column{name[1]}"),
            "documentation": facet(description=f"described{name[1]}"),
            "ownership": facet(owners=[{"name": f"owner{name[1]}"}]),
        }
        if name in linked:
            about["symlinks"] = facet(identifiers=[{"namespace": linked[name][0], "name": linked[name][1], "type": "TABLE"}])
        if chance.random() < 0.5:
            source = chance.choice(scene.datasets)
            if source != name:
                about["columnLineage"] = columns(**{f"column{name[1]}": [(*source, "any")]})
                scene.declared.append((source, name))
        scene.described[name] = dataset_event({"namespace": name[0], "name": name[1], "facets": about}, T0)
    for number in range(7):
        scene.jobs.append(_work(chance, scene, seed, number))
    _add_later(chance, scene)
    _add_far(scene, seed)
    for space in ("own-jobs", "their-jobs"):
        name = (space, _word("bad", seed, len(scene.rejected)))
        scene.rejected[name] = json.dumps({"job": {"namespace": space, "name": name[1]}, "eventTime": "never"}).encode()
    return scene


def _add_later(chance: random.Random, scene: Scene) -> None:
    """Declarations that differ from what was observed, a second schema, a dependency between jobs."""
    for work in scene.jobs[:3]:
        source, waits = chance.choice(scene.datasets), chance.choice(scene.jobs)
        named = {"namespace": source[0], "name": source[1]}
        declared = json.loads(job_event(work.job[1], T0, inputs=[named]))
        declared["job"]["namespace"] = work.job[0]
        scene.later.append((work.job, json.dumps(declared).encode()))
        scene.related.append((work.job, source))
        upstream = [{"job": {"namespace": waits.job[0], "name": waits.job[1]}, "run": {"runId": waits.run}}]
        run_facets = {"jobDependencies": facet(upstream=upstream, downstream=[])}
        scene.later.append(
            (work.job, run_event("COMPLETE", work.run, work.job[1], T0 + DAY_US, run_facets=run_facets, namespace=work.job[0]))
        )
        scene.related.append((work.job, waits.job))
    for name in scene.datasets[:4]:
        again = {"schema": schema(f"column{name[1]}", f"column{name[1]}too")}
        scene.later.append((name, dataset_event({"namespace": name[0], "name": name[1], "facets": again}, T0 + HOUR_US)))


def _add_far(scene: Scene, seed: int) -> None:
    """A job of others that copies what only others have into a namespace that nothing of one's own lies next to."""
    source, far = ("kafka://theirs", _word("deep", seed, 0)), (f"s3://{_word('space', seed, 0)}", _word("far", seed, 0))
    job = (f"jobs-{_word('crew', seed, 0)}", _word("job", seed, len(scene.jobs)))
    work = Work(job, [source], [far], str(uuid.UUID(int=seed, version=4)))
    ends = [{"namespace": name[0], "name": name[1]} for name in (source, far)]
    work.event = run_event("COMPLETE", work.run, work.job[1], T0 + DAY_US // 2, ends[:1], ends[1:], namespace=work.job[0])
    scene.datasets += [source, far]
    scene.jobs.append(work)


def _work(chance: random.Random, scene: Scene, seed: int, number: int) -> Work:
    job = (chance.choice(["own-jobs", "their-jobs"]), _word("job", seed, number))
    inputs, outputs = ([*chance.sample([*scene.datasets, *scene.other_names], chance.randint(0, 2))] for _ in range(2))
    work = Work(job, inputs, outputs, str(uuid.UUID(int=chance.getrandbits(128), version=4)))
    own = job[0] in OWN
    written = []
    for name in outputs:
        fields = {f"column{name[1]}": [(*source, "any" if own else f"column{source[1]}") for source in inputs]}
        more = {"columnLineage": columns(**fields)} if inputs and chance.random() < 0.7 else {}
        amounts = {"outputFacets": {"outputStatistics": facet(rowCount=chance.randint(1, 99))}}
        written.append({"namespace": name[0], "name": name[1], "facets": more, **amounts})
    above: dict[str, Any] = {}
    if scene.jobs and chance.random() < 0.5:
        parent = chance.choice(scene.jobs)
        above = {"parent": facet(run={"runId": parent.run}, job={"namespace": parent.job[0], "name": parent.job[1]})}
    if chance.random() < 0.5:
        above["errorMessage"] = facet(message=f"failure{job[1]}", programmingLanguage="JAVA")
    work.event = run_event(
        "FAIL" if "errorMessage" in above and chance.random() < 0.5 else "COMPLETE",
        work.run,
        job[1],
        T0 + DAY_US // 2 + number * HOUR_US,
        [{"namespace": name[0], "name": name[1]} for name in inputs],
        written,
        run_facets=above,
        job_facets={"sql": facet(query=f"select query{job[1]}")},
        namespace=job[0],
    )
    return work


def _word(kind: str, seed: int, number: int) -> str:
    """A word that is in no other name, nor in anything else."""
    return f"{kind}x{random.Random(f'{kind} {seed} {number}').getrandbits(40):010x}x"
