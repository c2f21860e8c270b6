"""Settings of sources that observe connectors."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.common.connect.catalogue.catalogue import Catalogue, catalogue
from lineage_bridge.sources.common.settings import HttpSettings, SourceSettings


def _can_be_read(mappings: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    try:
        catalogue().with_mappings(mappings)
    except ConfigError as error:
        raise ValueError(f"{error} ({error.hint})") from error
    return mappings


Mappings = Annotated[tuple[dict[str, Any], ...], AfterValidator(_can_be_read)]
"""Entries for the catalogue of connector classes."""


class OwnClasses(SourceSettings):
    """Settings by which users describe connector classes that are not in the catalogue."""

    mappings: Mappings = Field(default=(), description="connector classes of your own, as docs/connectors.md has them")
    catalogue: str = Field(default="", description="TOML file with connector classes of your own, or a folder of such files")

    @cached_property
    def classes(self) -> Catalogue:
        """The catalogue with the user's own classes. It is read once, and then cached. Entries in `mappings` take precedence over those in
        the file. Raises ConfigError.
        """
        return catalogue().with_file(self.catalogue).with_mappings(self.mappings)


class ConnectorSettings(OwnClasses):
    """Settings of all sources that observe connectors, whichever service runs the connectors."""

    namespace: str = Field(default="", description="namespace of its jobs; empty: that of the service that runs them")
    kafka: str = Field(default="", description="bootstrap servers of the connectors' Kafka cluster; empty: taken from other sources")
    include: tuple[str, ...] = Field(default=("*",), description="names of connectors to observe, with * and ?")
    exclude: tuple[str, ...] = Field(default=(), description="names of connectors to leave out, with * and ?")
    smt_namespace: str = Field(default="fh-local", description="OPENLINEAGE_NAMESPACE of the workers, for OpenLineageLifecycleSmt")
    smt_bootstrap: str = Field(default="kafka-1:19092", description="BOOTSTRAP of the workers, for OpenLineageLifecycleSmt")

    def matters(self, connector: str) -> bool:
        """Whether the settings select a connector."""
        return _matches(connector, self.include) and not _matches(connector, self.exclude)


class ConnectSettings(ConnectorSettings, HttpSettings):
    """Settings of a cluster of Kafka Connect workers. The source calls the REST API of one worker."""

    namespace: str = Field(default="", description="namespace of the jobs; empty: kafka-connect://host:port of the address")
    kafka: str = Field(default="", description="bootstrap servers of the workers' Kafka cluster; empty: taken from other sources")


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
