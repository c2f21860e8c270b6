"""The URNs of jobs in DataHub, how long URNs may be, and whether its metadata service answers."""

from typing import Final
from urllib.parse import quote_plus

from lineage_bridge.catalogs.http import TargetClient
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.sources.common.datahub.urns import encoded

NOT_HELD: Final = "facets that are not sent to DataHub"
LONG_JOBS: Final = "jobs whose URN would be too long"
LONG_DATASETS: Final = "datasets whose URN would be too long"
SIDES: Final = ("inputs", "outputs")
_LONGEST_URN: Final = 512
"""The maximum size, in bytes, of the URN of a job or dataset, URL-encoded."""


def flow_urn(orchestrator: str, flow: str, cluster: str) -> str:
    """The URN of a flow, in an environment or another cluster."""
    return f"urn:li:dataFlow:({orchestrator},{encoded(flow)},{encoded(cluster)})"


def job_urn(flow: str, name: str) -> str:
    """The URN of a job in the flow with a URN."""
    return f"urn:li:dataJob:({flow},{encoded(name)})"


def is_too_long(urn: str) -> bool:
    """Whether DataHub would refuse a URN because of its length."""
    return len(quote_plus(urn, safe="*", errors="replace").replace("~", "%7E")) > _LONGEST_URN


def check_connection(client: TargetClient) -> SourceCheck:
    """Whether DataHub's metadata service answers at the address."""
    answer = client.call("GET", "/config")
    if answer.is_success and b'"noCode"' in answer.body:
        return SourceCheck("connect", works=True, message="DataHub answers")
    text = f"the server answers {answer.status}, and not as DataHub's metadata service does"
    return SourceCheck("connect", False, text, "use the address of the metadata service, or that of the web page with /api/gms")
