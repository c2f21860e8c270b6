"""Asks a tenant of Atlan with Atlan's own library, which is in an environment of its own.

The arguments are the address, a file with events and tokens, and the file for what the library makes of the tenant's answers, as JSON.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pyatlan.client.atlan import AtlanClient
from pyatlan.errors import AtlanError
from pyatlan.model.assets import Connection, FlowControlOperation, Process
from pyatlan.model.enums import AtlanConnectorType
from pyatlan.model.fluent_search import CompoundQuery, FluentSearch
from pyatlan.model.open_lineage.event import OpenLineageEvent

GENERIC = AtlanConnectorType.GENERIC_OPENLINEAGE


def ask(url: str, events: list[dict[str, Any]], tokens: dict[str, str]) -> dict[str, Any]:
    """Everything that publications do there, by the library."""
    client = AtlanClient(base_url=url, api_key=tokens["token"])
    found: dict[str, Any] = {
        "models": [json.loads(OpenLineageEvent.parse_obj(event).json(by_alias=True, exclude_none=True)) for event in events]
    }
    for event in events:
        client.open_lineage.send(event, GENERIC)
    try:
        client.open_lineage.send(events[0], AtlanConnectorType.SPARK)
    except AtlanError as error:
        found["not_set_up"] = error.error_code.error_id
    (connection,) = client.asset.find_connections_by_name("lineage", GENERIC)
    assert isinstance(connection, Connection)
    found["connection"] = connection.qualified_name
    search = (
        FluentSearch()
        .where(CompoundQuery.active_assets())
        .where(CompoundQuery.asset_type(FlowControlOperation))
        .where(FlowControlOperation.QUALIFIED_NAME.within([f"{connection.qualified_name}/{events[0]['job']['name']}"]))
        .include_on_results(FlowControlOperation.FLOW_RUN_ID)
        .include_on_results(FlowControlOperation.FLOW_DATA_RESULTS)
    )
    (job,) = client.asset.search(search.to_request())
    assert isinstance(job, FlowControlOperation)
    found["run"] = job.flow_run_id
    (result,) = job.flow_data_results or []
    assert isinstance(result, Process)
    deleted = client.asset.delete_by_guid([job.guid, result.guid])
    found["archived"] = sorted(type(asset).__name__ for asset in (deleted.mutated_entities.DELETE if deleted.mutated_entities else []))
    by_oauth = AtlanClient(base_url=url, oauth_client_id=tokens["client"], oauth_client_secret=tokens["secret"])
    found["left"] = len(list(by_oauth.asset.search(search.to_request())))
    return found


if __name__ == "__main__":
    address, path, told = sys.argv[1:]
    asked = Path(path)
    Path(told).write_text(json.dumps(ask(address, **json.loads(asked.read_text()))))
