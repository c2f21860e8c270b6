"""Fetches all that the servers are made of: `python -m tests.servers`. What is in the cache already is not fetched again."""

import logging
import sys

from tests.servers import archives, connect, stores
from tests.servers.web import openid

log = logging.getLogger("servers")


def main() -> None:
    """Raises what a server's first start would."""
    for name in ("kafka", "kafka-streams", "flink", "helm"):
        log.info("%s: %d archives", name, len(archives.jars(name)))
    for name in connect.PLUGINS:
        log.info("%s: %s", name, archives.unpacked(name, "debezium-openlineage"))
    for name in ("registry", "keycloak"):
        log.info("%s: %s", name, archives.unpacked(name))
    log.info("openid: %s", openid.installed())
    log.info("azurite: %s", stores.azurite())
    for name in ("postgres", "flink", "nginx", "object-stores", "deploy"):
        log.info("%s: %s", name, archives.installed(name))


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
    main()
