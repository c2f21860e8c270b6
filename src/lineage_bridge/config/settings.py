"""All settings of LineageBridge, and how their names are spelt as variables and flags."""

import ipaddress
import json
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from lineage_bridge.config.external import ExternalAddress
from lineage_bridge.config.log_format import LogFormat
from lineage_bridge.config.outbound import Outbound
from lineage_bridge.config.paths import DataFolder
from lineage_bridge.config.people import IssuerSettings, ProxySettings, RoleSettings, TeamSettings, check_issuer_names
from lineage_bridge.config.store_address import check_replica, check_schema, check_store

PREFIX = "LINEAGE_BRIDGE_"
CONFIG_VARIABLE = f"{PREFIX}CONFIG"
MIB = 1024 * 1024
_ON_THIS_MACHINE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where programs of this machine reach what listens everywhere


def _address(host: str) -> str:
    try:
        if host != "localhost":
            ipaddress.ip_address(host)
    except ValueError as error:
        raise ValueError("use an IP address of this machine, or localhost") from error
    return host


def _destinations(text: str) -> str:
    Outbound.parse(text)
    return text


def _external(url: str) -> str:
    if url:
        ExternalAddress.parse(url)
    return url


def _decoded(section: object) -> object:
    """Parse a setting that is a section of the settings file. In an environment variable, it is written as JSON."""
    return json.loads(section) if isinstance(section, str) else section


def _not_empty(path: object) -> object:
    if path == "":
        raise ValueError("a path cannot be empty")
    return path


def _absolute(path: Path) -> Path:
    return path.expanduser().absolute()


class Settings(BaseModel):
    """All settings. Sizes are in bytes. Times are in the unit at the end of their names."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    host: Annotated[str, AfterValidator(_address)] = Field(default="127.0.0.1", description="address the API listens on")
    port: int = Field(default=8000, ge=0, le=65_535, description="port the API listens on; 0 takes a free one")
    auth: Literal["auto", "required"] = Field(
        default="auto",
        description="who must send an API key: required: everybody; auto: everybody, unless `host` is a loopback address",
    )
    insecure_open: bool = Field(default=False, description="let everybody who can connect to the host use the server without a key")
    external_url: Annotated[str, AfterValidator(_external)] = Field(
        default="", description="where browsers reach the server, with the path below which a proxy shows it; empty: host and port"
    )
    tls_cert_file: str = Field(default="", description="PEM file of the server's certificate and its chain; empty: no TLS")
    tls_key_file: str = Field(default="", description="PEM file of the certificate's key; empty: the key is in tls_cert_file")
    data_dir: Annotated[Path, BeforeValidator(_not_empty), AfterValidator(_absolute)] = Field(
        default_factory=lambda: platformdirs.user_data_path("lineage-bridge"),
        description="folder of the log, the graph and all other stored data",
    )
    store: Annotated[str, AfterValidator(check_store)] = Field(
        default="",
        description="PostgreSQL database that holds the graph, as postgresql://user@host:5432/database without a password;"
        " empty: a file in the data folder",
    )
    store_schema: Annotated[str, AfterValidator(check_schema)] = Field(
        default="lineage_bridge",
        pattern="^[a-z_][a-z0-9_]{0,54}$",
        description="schema of that database that holds the graph and nothing else; it is created if it does not exist",
    )
    store_replica: Annotated[str, AfterValidator(check_replica)] = Field(
        default="",
        description="replica of that database, which the server answers questions from, as an address like that of `store`; empty: `store`",
    )
    url: str = Field(default="", pattern="^(https?://.+)?$", description="server that commands call; empty: host and port")
    url_ca_file: str = Field(default="", description="PEM file of authorities that commands trust for url, besides the system's")
    api_key_file: str = Field(default="", description="file with the API key that commands send; empty: LINEAGE_BRIDGE_API_KEY")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="lowest level that is logged")
    log_format: LogFormat = Field(default="text", description="how log lines are written: text, or one JSON object per line")
    log_requests: bool = Field(default=False, description="log every request that the API answers")
    traces: str = Field(
        default="",
        pattern="^(https?://.+)?$",
        description="collector that traces are sent to, by OpenTelemetry's OTLP over HTTP; empty: none",
    )
    traces_share: float = Field(default=1.0, ge=0, le=1, description="share of the traces that begin here that are recorded")
    stop_timeout_s: float = Field(
        default=60.0, gt=0, le=3600, description="maximum seconds that a stopped server takes to end before the rest is killed"
    )
    spark_master: str = Field(default="local[*]", min_length=1, description="where Spark runs")
    spark_driver_host: str = Field(
        default="",
        max_length=253,
        description="name or address at which the executors of a Spark cluster reach this machine; empty: the machine's name",
    )
    spark_ship: bool = Field(
        default=False, description="send LineageBridge and its dependencies to the executors of a Spark cluster, which need Python only"
    )
    spark_memory: str = Field(default="1g", pattern="^[1-9][0-9]*[kmgKMG]$", description="heap of Spark's driver, as Java writes it")
    trigger_ms: int = Field(default=250, ge=1, le=60_000, description="time between two batches")
    batch_bytes: int = Field(default=48 * MIB, ge=1, description="maximum bytes of a batch with more than one record")
    batch_frames: int = Field(default=20_000, ge=1, description="maximum number of records in one batch")
    derived_rows: int = Field(default=5_000, ge=1, description="rows that a batch may spend on derivations left by earlier batches")
    stitch_siblings: bool = Field(
        default=True, description="infer flows between a run that only writes and the streaming run around it that only reads"
    )
    segment_bytes: int = Field(default=64 * MIB, ge=4096, le=1024 * MIB, description="size at which the log starts a new file")
    compress_log: bool = Field(default=True, description="whether files of the log that are no longer written are compressed")
    sources: Annotated[dict[str, dict[str, Any]], BeforeValidator(_decoded)] = Field(
        default_factory=dict, description="sources to observe, by name: each with its kind and settings"
    )
    inputs: Annotated[dict[str, dict[str, Any]], BeforeValidator(_decoded)] = Field(
        default_factory=dict, description="inputs to read events from, by name: each with its kind and settings"
    )
    intake: str = Field(
        default="",
        max_length=100,
        description="input of this file (kind kafka, form stream, one topic) to whose topic received events are written instead of the log",
    )
    targets: Annotated[dict[str, dict[str, Any]], BeforeValidator(_decoded)] = Field(
        default_factory=dict, description="targets to publish lineage to, by name: each with its kind and settings"
    )
    oidc: Annotated[dict[str, IssuerSettings], BeforeValidator(_decoded), AfterValidator(check_issuer_names)] = Field(
        default_factory=dict, description="OpenID Connect issuers whose access tokens are accepted, or where people log in, by name"
    )
    roles: Annotated[dict[str, RoleSettings], BeforeValidator(_decoded)] = Field(
        default_factory=dict, description="scopes of the people to whom an issuer or the proxy gives the role or group of this name"
    )
    teams: Annotated[dict[str, TeamSettings], BeforeValidator(_decoded)] = Field(
        default_factory=dict, description="which namespaces each team owns; keys and roles can be limited to those of teams"
    )
    beyond_border: Literal["names", "nothing"] = Field(
        default="names",
        description="what keys and roles with namespaces see beyond them: the names of direct neighbours, or only that something exists",
    )
    trusted_proxy: Annotated[ProxySettings, BeforeValidator(_decoded)] = Field(
        default_factory=ProxySettings, description="the proxy that states in headers for which user it forwards a request"
    )
    session_idle_s: int = Field(
        default=3600, ge=60, le=30 * 86_400, description="seconds without a request after which a browser's session ends"
    )
    session_s: int = Field(default=43_200, ge=60, le=90 * 86_400, description="seconds after the login at which a browser's session ends")
    max_sessions: int = Field(default=10_000, ge=1, le=100_000, description="maximum number of browser sessions at once")
    secret_folders: str = Field(
        default="",
        description=f"folders below which secrets are read from files, separated by {os.pathsep}; empty: lineage-bridge/secrets in your"
        " configuration folder, /run/secrets and systemd's credentials",
    )
    input_folders: str = Field(
        default="", description=f"folders below which inputs may read files of this machine, separated by {os.pathsep}; empty: none"
    )
    secret_variables: str = Field(default="", description="prefix of the environment variables that may hold secrets; empty: any variable")
    outbound_allow: Annotated[str, AfterValidator(_destinations)] = Field(
        default="",
        description="networks (10.0.0.0/8), addresses and host names (*.example.com), separated by commas, that sources may connect to;"
        " empty: any but link-local and metadata addresses",
    )
    machine_credentials: bool = Field(
        default=False,
        description="let inputs and sources use the credentials that a cloud gives this machine: the role of an instance or container, its"
        " service account or managed identity",
    )
    pending_bytes: int = Field(default=256 * MIB, ge=1, le=1024 * MIB, description="maximum bytes that wait to be written to the log")

    max_connections: int = Field(default=512, ge=1, le=65_536, description="maximum number of connections that are open at once")
    max_connections_per_address: int = Field(default=256, ge=1, le=65_536, description="maximum number of connections from one address")
    head_bytes: int = Field(default=64 * 1024, ge=1024, le=MIB, description="maximum bytes of the request line and headers")
    head_timeout_s: float = Field(default=10.0, gt=0, le=3600, description="seconds that a client has to send the request line and headers")
    body_timeout_s: float = Field(default=60.0, gt=0, le=3600, description="seconds that a client has to send a body")
    body_bytes_per_s: int = Field(
        default=1024, ge=1, description="minimum bytes per second of a body: a client has one more second for each such number of bytes"
    )

    ingest_requests_per_s: int = Field(
        default=2000, ge=0, description="requests with events that one caller may send per second; 0: any number"
    )
    ingest_bytes_per_s: int = Field(
        default=32 * MIB, ge=0, description="bytes of events that one caller may send per second; 0: any number"
    )
    body_memory_bytes: int = Field(default=512 * MIB, ge=MIB, description="maximum bytes of request bodies that are in memory at once")

    light_questions: int = Field(
        default=4, ge=1, le=12, description="maximum number of light questions, for a few nodes, runs or events, that are answered at once"
    )
    heavy_questions: int = Field(
        default=3,
        ge=1,
        le=12,
        description="maximum number of heavy questions, which follow flows or read long lists, that are answered at once",
    )
    whole_graph_questions: int = Field(
        default=2, ge=1, le=12, description="maximum number of exports and views of the whole graph that are answered at once"
    )
    light_queue: int = Field(default=256, ge=0, le=512, description="maximum number of light questions that wait for their turn")
    heavy_queue: int = Field(default=64, ge=0, le=512, description="maximum number of heavy questions that wait for their turn")
    whole_graph_queue: int = Field(
        default=4, ge=0, le=512, description="maximum number of questions for the whole graph that wait for their turn"
    )
    question_wait_s: float = Field(default=10.0, ge=0, le=60, description="maximum seconds that a question waits for its turn")

    @property
    def address(self) -> str:
        """The address of the server that commands call, without a slash at its end."""
        host = _ON_THIS_MACHINE.get(self.host, self.host)
        host = f"[{host}]" if ":" in host else host
        scheme = "https" if self.tls_cert_file else "http"
        return (self.url or f"{scheme}://{host}:{self.port}").rstrip("/")

    @property
    def is_on_loopback(self) -> bool:
        """Whether the API only listens on an address that programs of this machine reach."""
        return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback

    @property
    def external(self) -> ExternalAddress | None:
        """The address at which browsers reach the server; None if it is the address at which the server listens."""
        return ExternalAddress.parse(self.external_url) if self.external_url else None

    @property
    def is_local(self) -> bool:
        """Whether the API can be reached from this machine only: it listens on no other address, and no proxy passes it on."""
        return self.is_on_loopback and (self.external is None or self.external.is_on_loopback)

    @property
    def paths(self) -> DataFolder:
        """The paths of the files in the data folder."""
        return DataFolder(self.data_dir)

    def environment(self) -> dict[str, str]:
        """The environment variables that give another process exactly these settings, regardless of its current folder and settings
        file.
        """
        values = self.model_dump(mode="json").items()
        settings = {variable_of(name): json.dumps(value) if isinstance(value, dict) else str(value) for name, value in values}
        return {**settings, CONFIG_VARIABLE: os.devnull}


def variable_of(setting: str) -> str:
    """The name of the environment variable for a setting."""
    return PREFIX + setting.upper()


def flag_of(setting: str) -> str:
    """The command-line flag for a setting."""
    return "--" + setting.replace("_", "-")
