"""Writes the locks of the archives that the tests' servers are made of: `python -m tools.servers [NAME...]`.

Ivy resolves what is listed here, with the mirror that is set; nothing else names a version.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.servers.archives import LOCKS, ivy_in

from lineage_bridge.pipeline.streams.jars import ivy_command, sha256_of

KAFKA, DEBEZIUM, FLINK, LOG4J, APICURIO, OPENLINEAGE = "4.3.1", "3.5.0.Final", "2.3.0", "2.25.4", "3.0.9", "1.53.0"
KEYCLOAK, HELM = "26.0.0", "0.0.21"

# Modules as group:artifact:revision[:classifier][@type]. Those of a class path come with what they depend on.
CLASS_PATHS = {
    # kafka-tools brings the worker of Kafka Connect; without the binding of slf4j nothing is logged.
    "kafka": [
        *(f"org.apache.kafka:{name}:{KAFKA}" for name in ("kafka_2.13", "kafka-tools", "connect-mirror", "connect-file")),
        *(f"org.apache.logging.log4j:{name}:{LOG4J}" for name in ("log4j-core", "log4j-slf4j-impl")),
    ],
    # Helm itself is a native library in an archive of its own.
    "helm": [f"com.marcnuri.helm-java:{name}:{HELM}" for name in ("helm-java", "linux-amd64")],
}
ALONE = {
    # Without the store on disk, which is larger than all else: streams here keep their state in memory.
    "kafka-streams": [f"org.apache.kafka:{name}:{KAFKA}" for name in ("kafka-streams", "kafka-streams-examples")],
    # Debezium's OpenLineage ends with this version; connectors newer than it have none.
    "debezium-postgres": [f"io.debezium:debezium-connector-postgres:{DEBEZIUM}:plugin@tar.gz"],
    "debezium-jdbc": [f"io.debezium:debezium-connector-jdbc:{DEBEZIUM}:plugin@tar.gz"],
    "debezium-openlineage": [f"io.debezium:debezium-openlineage-core:{DEBEZIUM}:libs@tar.gz"],
    # The last one for Java 17.
    "registry": [f"io.apicurio:apicurio-registry-app:{APICURIO}:all@tar.gz"],
    "keycloak": [f"org.keycloak:keycloak-quarkus-dist:{KEYCLOAK}@zip"],
    "flink": [
        "org.apache.flink:flink-sql-connector-kafka:5.0.0-2.2",
        *(f"org.apache.flink:{name}:{FLINK}" for name in ("flink-sql-gateway", "flink-sql-gateway-api")),
        f"io.openlineage:openlineage-flink:{OPENLINEAGE}",
    ],
}
# Read back from the names of the files; no coordinate holds a tilde.
FILE_NAME = "[organisation]~[artifact]~[revision]~([classifier])~[ext]"


def locked(modules: list[str], *, transitive: bool) -> list[str]:
    """The lines of a lock: every archive with its SHA-256, in order of its name. Raises CalledProcessError when Ivy fails."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        description = scratch / "ivy.xml"
        description.write_text(_description(modules, transitive=transitive), encoding="utf-8")
        command = ivy_command(description, scratch, ivy_in(scratch), f"fetched/{FILE_NAME}")
        subprocess.run(command, check=True, stdout=sys.stderr)
        return [f"{_coordinates(path.name)} {sha256_of(path)}" for path in sorted((scratch / "fetched").iterdir())]


def _description(modules: list[str], *, transitive: bool) -> str:
    confs = "default->master,runtime(*)" if transitive else "default->master"
    dependencies = "\n".join(_dependency(module, confs, transitive=transitive) for module in modules)
    return f"""<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
<info organisation="lineage-bridge" module="servers"/>
<configurations><conf name="default"/></configurations>
<dependencies>
{dependencies}
</dependencies>
</ivy-module>
"""


def _dependency(module: str, confs: str, *, transitive: bool) -> str:
    coordinates, _, kind = module.partition("@")
    group, name, revision, *classifiers = coordinates.split(":")
    own = "".join(f' m:classifier="{classifier}"' for classifier in classifiers)
    artifact = f'<artifact name="{name}" type="{kind}" ext="{kind}"{own}/>' if kind else ""
    attributes = f'org="{group}" name="{name}" rev="{revision}" transitive="{str(transitive).lower()}" conf="{confs}"'
    return f"<dependency {attributes}>{artifact}</dependency>"


def _coordinates(file_name: str) -> str:
    *coordinates, kind = file_name.split("~")
    return ":".join(filter(None, coordinates)) + (f"@{kind}" if kind != "jar" else "")


def main(names: list[str]) -> None:
    """Writes the locks named, or all."""
    for name, modules in {**CLASS_PATHS, **ALONE}.items():
        if not names or name in names:
            lines = locked(modules, transitive=name in CLASS_PATHS)
            (LOCKS / f"{name}.lock").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
