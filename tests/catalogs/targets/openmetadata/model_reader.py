"""Reads requests to OpenMetadata and its answers with the models of openmetadata-ingestion, which are in an environment of their own.

The arguments are a file with exchanges (method, path, request, status and answer of each), and the file for what the models make of
them: how many each model has read, and what it would not read or would lose.
"""

import json
import sys
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ValidationError

GENERATED = "metadata.generated.schema"
REQUESTS = {
    "lineage": "api.lineage.addLineage.AddLineageRequest",
    "pipelines": "api.data.createPipeline.CreatePipelineRequest",
    "services": "api.services.createPipelineService.CreatePipelineServiceRequest",
}
ANSWERS = {
    "lineage": "type.entityLineage.EntityLineage",
    "tables": "entity.data.table.Table",
    "topics": "entity.data.topic.Topic",
    "containers": "entity.data.container.Container",
    "pipelines": "entity.data.pipeline.Pipeline",
    "services": "entity.services.pipelineService.PipelineService",
}
EDGE = "type.entityLineage.LineageDetails"


def model_named(name: str) -> type[BaseModel]:
    """A generated model. The package itself is replaced by an empty one, since its own module imports what is not installed."""
    if "metadata" not in sys.modules:
        package, spec = ModuleType("metadata"), find_spec("metadata")
        assert spec
        package.__path__ = list(spec.submodule_search_locations or ())
        sys.modules["metadata"] = package
    module, _, model = name.rpartition(".")
    found: type[BaseModel] = getattr(import_module(f"{GENERATED}.{module}"), model)
    return found


def problem_of(model: type[BaseModel], value: Any) -> str:
    """What a model would not read, or would lose."""
    try:
        read = model.model_validate(value)
    except ValidationError as error:
        return f"{model.__name__}: {error}"
    again = json.loads(read.model_dump_json(exclude_unset=True))
    return "" if again == value else f"{model.__name__} makes {json.dumps(again)} of {json.dumps(value)}"


def main(asked: Path, answered: Path) -> None:
    """Read all exchanges."""
    read, problems = Counter[str](), []
    for exchange in json.loads(asked.read_text()):
        kind, is_edge = exchange["parts"][2], exchange["parts"][3:4] == ["getLineageEdge"]
        pairs = []
        if exchange["request"] is not None:
            pairs.append((REQUESTS[kind], exchange["request"]))
        if exchange["answer"] and exchange["status"] < 300 and exchange["method"] != "DELETE":
            pairs.append((EDGE, exchange["answer"]["edge"]) if is_edge else (ANSWERS[kind], exchange["answer"]))
        for name, value in pairs:
            model = model_named(name)
            read[model.__name__] += 1
            problems.append(problem_of(model, value))
    answered.write_text(json.dumps({"read": read, "problems": [problem for problem in problems if problem]}))


main(*map(Path, sys.argv[1:]))
