"""The tenant that publications are tested with, held against Atlan's own library: it takes the same events, and makes the same requests."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import added, published
from tests.catalogs.places import make_place
from tests.catalogs.standins.atlan import CLIENT, QUALIFIED, SECRET, TOKEN, Atlan
from tests.catalogs.standins.server import Answer, Request, answering
from tests.catalogs.test_golden import EVENTS
from tests.servers import archives

SCRIPT = Path(__file__).parents[1] / "standins" / "atlan_client.py"


class Listening:
    """A tenant that keeps what it is asked."""

    def __init__(self) -> None:
        self.there, self.asked = Atlan(), list[Request]()

    def handle(self, request: Request) -> Answer:
        """Answer a request."""
        self.asked.append(request)
        return self.there.handle(request)

    def bodies(self, last: str) -> list[dict[str, Any]]:
        """The bodies of the requests whose path ends with this."""
        return [json.loads(request.body) for request in self.asked if request.parts[-1] == last]

    def searches(self, kind: str) -> list[dict[str, Any]]:
        """The filters of the searches for assets of a type, in one form; and what each asks for."""
        found = []
        for body in self.bodies("indexsearch"):
            terms = {name: value for part in body["dsl"]["query"]["bool"]["filter"] for of in part.values() for name, value in of.items()}
            single = {name: value["value"] if isinstance(value, dict) else value for name, value in terms.items()}
            plain: dict[str, list[Any]] = {name: value if isinstance(value, list) else [value] for name, value in single.items()}
            if plain.pop("__typeName.keyword")[0].casefold() == kind.casefold():
                found.append({"terms": plain, "sort": body["dsl"]["sort"], "attributes": set(body["attributes"])})
        return found


@pytest.mark.servers
def test_atlans_own_library_sends_and_asks_the_same(request: pytest.FixtureRequest, ours: Server, tmp_path: Path) -> None:
    place, mine, theirs = make_place("atlan", request, ours), Listening(), Listening()
    ours.send(EVENTS[0])
    with answering(mine.handle) as url:
        added(ours, place, url=url, namespaces=["kafka://*"])
        assert published(ours).outcomes == {"done": 1}
        added(ours, place, url=url, exclude_namespaces=["*"])
        assert published(ours, prune=True).outcomes == {"done": 1}
    sent = mine.there.events
    (tmp_path / "asked").write_text(json.dumps({"events": sent, "tokens": {"token": TOKEN, "client": CLIENT, "secret": SECRET}}))
    with answering(theirs.handle) as url:
        command = [sys.executable, "-W", "ignore", str(SCRIPT), url, str(tmp_path / "asked"), str(tmp_path / "answered")]
        environment = {"PYTHONPATH": str(archives.installed("pyatlan")), "HOME": str(tmp_path)}
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    answered = json.loads((tmp_path / "answered").read_text())

    assert theirs.there.events == sent
    for event, model in zip(sent, answered["models"], strict=True):  # the models have fewer facets
        assert {name: model[name] for name in ("eventType", "eventTime", "run")} == {
            name: event[name] for name in ("eventType", "eventTime", "run")
        }
        for side in ("inputs", "outputs"):
            names = [[(dataset["namespace"], dataset["name"]) for dataset in known.get(side) or ()] for known in (model, event)]
            assert names[0] == names[1]
    assert answered["not_set_up"] == "ATLAN-PYTHON-400-064"
    assert (answered["connection"], answered["run"]) == (QUALIFIED, sent[0]["run"]["runId"])
    assert (answered["archived"], answered["left"]) == (["FlowControlOperation", "Process"], 0)

    for kind in ("Connection", "FlowControlOperation"):
        asked = [{name: known[name] for name in ("terms", "sort")} for known in theirs.searches(kind)]
        assert asked[0] in [{name: known[name] for name in ("terms", "sort")} for known in mine.searches(kind)]
    (deleted,), (archived,) = ([request for request in of.asked if request.method == "DELETE"] for of in (mine, theirs))
    assert (deleted.parts, deleted.query["deleteType"]) == (archived.parts, archived.query["deleteType"])
    assert (len(deleted.lists["guid"]), len(archived.lists["guid"])) == (2, 2)
    assert [body.keys() for body in theirs.bodies("token")] == [{"clientId": CLIENT, "clientSecret": SECRET}.keys()]
