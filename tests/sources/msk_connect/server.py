"""MSK Connect's REST API on loopback, as botocore's model of the service has it: pages, and refusals with their code in a header."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.sources.http import Reply, Request, Standin, standing

REGION, ACCOUNT = "eu-west-1", "123456789012"
PAGE = 2
BROKERS = "b-1.shop.abc.c2.kafka.eu-west-1.amazonaws.com:9098,b-2.shop.abc.c2.kafka.eu-west-1.amazonaws.com:9098"


def arn(name: str, account: str = ACCOUNT) -> str:
    return f"arn:aws:kafkaconnect:{REGION}:{account}:connector/{name}/0bce1b02-99f5-4f9d-8a38-d15ee190ad24-2"


def connector(name: str, config: dict[str, str], state: str = "RUNNING", version: str = "K1", **more: Any) -> dict[str, Any]:
    """A connector as DescribeConnector answers it."""
    return {
        "connectorArn": arn(name),
        "connectorName": name,
        "connectorState": state,
        "connectorConfiguration": config,
        "currentVersion": version,
        "creationTime": "2026-11-20T10:00:00Z",
        "kafkaConnectVersion": "3.7.x",
        "capacity": {"provisionedCapacity": {"mcuCount": 1, "workerCount": 2}},
        "kafkaCluster": {"apacheKafkaCluster": {"bootstrapServers": BROKERS, "vpc": {"securityGroups": ["sg-1"], "subnets": ["subnet-1"]}}},
        "plugins": [
            {"customPlugin": {"customPluginArn": f"arn:aws:kafkaconnect:{REGION}:{ACCOUNT}:custom-plugin/debezium/u-1", "revision": 3}}
        ],
        **more,
    }


def refused(status: int, code: str, message: str = "no") -> Reply:
    return Reply(status, {"__type": code, "message": message})


FORBIDDEN = refused(403, "ForbiddenException", "User is not authorized to perform kafkaconnect:ListConnectors")
THROTTLED = refused(429, "TooManyRequestsException", "Too Many Requests")
BROKEN = refused(500, "InternalServerErrorException")


class Msk:
    """`connectors`: as they are described, in the order of the list. `listing`: page (from 0) to the answer instead; `described`: likewise
    by name."""

    def __init__(self, *connectors: dict[str, Any]) -> None:
        self.connectors = list(connectors)
        self.listing: dict[int, Reply] = {}
        self.described: dict[str, Reply] = {}
        self.standin = Standin(self.answer)
        self.signed: list[str] = []

    @property
    def url(self) -> str:
        return self.standin.url

    @property
    def asked(self) -> list[str]:
        return self.standin.asked

    def answer(self, request: Request) -> Reply:
        self.signed.append(request.headers.get("authorization", ""))
        if request.method == "POST":
            return _role()
        assert request.parts[:2] == ("v1", "connectors")
        if len(request.parts) == 2:
            return self._page(int(request.query.get("nextToken", "page-0").removeprefix("page-")))
        name = request.parts[2].split("/")[1]
        if name in self.described:
            return self.described[name]
        found = [connector for connector in self.connectors if connector["connectorArn"] == request.parts[2]]
        return Reply(200, found[0]) if found else refused(404, "NotFoundException")

    def _page(self, number: int) -> Reply:
        if number in self.listing:
            return self.listing[number]
        some = self.connectors[number * PAGE : (number + 1) * PAGE]
        unlisted = ("connectorConfiguration", "stateDescription")
        more = {"nextToken": f"page-{number + 1}"} if len(self.connectors) > (number + 1) * PAGE else {}
        return Reply(200, {"connectors": [{k: v for k, v in connector.items() if k not in unlisted} for connector in some], **more})


def _role() -> Reply:
    """AssumeRole of the Security Token Service, which speaks XML."""
    keys = "<AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
    answer = f"<AssumeRoleResult><Credentials>{keys}<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult>"
    space = "https://sts.amazonaws.com/doc/2011-06-15/"
    return Reply(200, f'<AssumeRoleResponse xmlns="{space}">{answer}</AssumeRoleResponse>'.encode(), "text/xml")


@contextmanager
def msk(*connectors: dict[str, Any]) -> Iterator[Msk]:
    service = Msk(*connectors)
    with standing(service.standin):
        yield service
