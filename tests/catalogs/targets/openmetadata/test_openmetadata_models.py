"""The server that publications are tested with, held against OpenMetadata's own models: they read every request and every answer."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import published
from tests.catalogs.standins.openmetadata_entities import OpenMetadataEntities
from tests.catalogs.standins.server import Answer, Request, answering
from tests.catalogs.test_golden import EVENTS
from tests.events import dataset, job_event
from tests.servers import archives

SCRIPT = Path(__file__).with_name("model_reader.py")
SETTINGS = {"form": "entities", "services": {"kafka://*": "streams", "s3://*": "lake", "*": "warehouse.main.public"}}
MODELS = {
    *("AddLineageRequest", "CreatePipelineRequest", "CreatePipelineServiceRequest", "EntityLineage", "LineageDetails"),
    *("Table", "Topic", "Container", "Pipeline", "PipelineService"),
}


@pytest.mark.servers
def test_openmetadatas_own_models_read_every_request_and_answer(ours: Server, tmp_path: Path) -> None:
    there, exchanges = OpenMetadataEntities(lambda _, __: ["id", "price"]), list[dict[str, Any]]()

    def handle(request: Request) -> Answer:
        answer = there.handle(request)
        exchanges.append(
            {
                "method": request.method,
                "parts": request.parts,
                "request": json.loads(request.body) if request.body else None,
                "status": answer.status,
                "answer": answer.body or None,
            }
        )
        return answer

    with answering(handle) as url:
        ours.targets.add("there", "openmetadata", {**SETTINGS, "url": url}, replace=True)
        ours.send(*EVENTS)
        assert published(ours).outcomes == {"done": 5}
        ours.send(job_event("clean", inputs=[dataset("a")], outputs=[dataset("c")]))
        there.entities = {id_: {**made, "deleted": made["fullyQualifiedName"].endswith(".b")} for id_, made in there.entities.items()}
        assert published(ours, overwrite=True).outcomes == {"done": 2}
        ours.targets.add("there", "openmetadata", {**SETTINGS, "url": url, "exclude_namespaces": ["*"]}, replace=True)
        assert published(ours, prune=True).outcomes == {"done": 5}
    (tmp_path / "asked").write_text(json.dumps(exchanges))
    command = [sys.executable, "-W", "ignore", str(SCRIPT), str(tmp_path / "asked"), str(tmp_path / "answered")]
    environment = {"PYTHONPATH": str(archives.installed("openmetadata")), "HOME": str(tmp_path)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    answered = json.loads((tmp_path / "answered").read_text())
    assert answered["problems"] == []
    assert answered["read"].keys() == MODELS
