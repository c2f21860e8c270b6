"""The address at which browsers see the server, and what follows from it."""

from pathlib import Path
from typing import Any

import pytest

from lineage_bridge.config import Settings, load_settings
from lineage_bridge.config.external import ExternalAddress
from lineage_bridge.errors import ConfigError
from lineage_bridge.wiring.access import asks_for_keys, check_reachable


@pytest.mark.parametrize(
    ("text", "origin", "prefix"),
    [
        ("https://Lineage.example.com", "https://lineage.example.com", ""),
        ("https://lineage.example.com:443/", "https://lineage.example.com", ""),
        ("http://localhost:8000/a/b-c/", "http://localhost:8000", "/a/b-c"),
        ("https://[2001:DB8::1]:8443/x", "https://[2001:db8::1]:8443", "/x"),
    ],
)
def test_an_address_is_read_as_browsers_write_it(text: str, origin: str, prefix: str) -> None:
    found = ExternalAddress.parse(text)
    assert (found.origin, found.prefix, found.url) == (origin, prefix, origin + prefix)


@pytest.mark.parametrize(
    "text",
    [
        "lineage.example.com",
        "ftp://a.example",
        "https://",
        "https://a.example/?x=1",
        "https://a.example/#x",
        "https://u:p@a.example",
        "https://a.example:99999",
        "https://a.example/a//b",
        "https://a.example/a/../b",
        "https://a.example/a%2Fb",
        'https://a.example/"',
        "https://a.example/api",
        "https://a.example/metrics",
        "https://a.example/docs/x",
        "https://ä.example",
    ],
)
def test_an_address_that_cannot_be_names_the_setting(text: str) -> None:
    with pytest.raises(ConfigError, match="EXTERNAL_URL"):
        load_settings({}, {"LINEAGE_BRIDGE_EXTERNAL_URL": text}, Path("/"))


@pytest.mark.parametrize(
    ("host", "external", "asks"),
    [
        ("127.0.0.1", "", False),
        ("127.0.0.1", "http://localhost:8000", False),
        ("127.0.0.1", "http://127.0.0.2/x", False),
        ("127.0.0.1", "https://lineage.example", True),
        ("0.0.0.0", "http://localhost:8000", True),
    ],
)
def test_a_server_that_others_see_asks_everybody(host: str, external: str, asks: bool) -> None:
    assert asks_for_keys(Settings(host=host, external_url=external)) is asks


def logins(folder: Path, **settings: Any) -> Settings:
    issuer = {"issuer": "https://issuer.example", "audience": "api", "client_id": "lineage"}
    return Settings.model_validate({"data_dir": folder, "oidc": {"company": {**issuer, **settings.pop("issuer", {})}}, **settings})


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, "external_url is not set"),
        ({"external_url": "http://lineage.example"}, "the connection is not encrypted"),
        ({"external_url": "https://a.example", "issuer": {"client_secret": "plain"}}, "must be a reference"),
        ({"external_url": "https://a.example", "issuer": {"client_secret": "${env:NOT_SET_ANYWHERE}"}}, "NOT_SET_ANYWHERE"),
    ],
)
def test_logins_that_cannot_be_stop_the_start(tmp_path: Path, settings: dict, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        check_reachable(logins(tmp_path, **settings))


def test_logins_that_can_be_start(tmp_path: Path) -> None:
    check_reachable(logins(tmp_path, external_url="https://a.example"))
    check_reachable(logins(tmp_path, external_url="http://localhost:8000"))


def test_a_login_asks_for_an_id_token(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="openid"):
        logins(tmp_path, issuer={"login_scopes": ["profile"]})
