"""The web page: its shell, its assets, and what is said where it was not built."""

import gzip
import re

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.api.support import Server

from lineage_bridge.api.routes.operations.pages import install_web_page
from lineage_bridge.api.web.page import WebPage
from lineage_bridge.config.external import ExternalAddress

SHELL = '<base href="%LINEAGE_BRIDGE_BASE%"><meta name="lineage-bridge-login" content="%LINEAGE_BRIDGE_LOGIN%">'
SCRIPT = "export const page = 1;\n" * 100


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text(SHELL)
    (tmp_path / "assets" / "index-1.js").write_text(SCRIPT)
    (tmp_path / "secret.txt").write_text("beside")
    return tmp_path


def client_of(folder, *, has_logins=False, headers=None):
    app = Starlette()
    install_web_page(app, WebPage(folder), has_logins=has_logins)
    return TestClient(app, headers=headers)


@pytest.mark.parametrize("path", ["/", "/view/lineage?kind=dataset&namespace=kafka%3A%2F%2Fb%3A9092&name=a%2Fb", "/view/a/b/c"])
def test_every_view_is_the_shell(folder, path):
    answer = client_of(folder, has_logins=True).get(path)
    assert answer.text == '<base href="/"><meta name="lineage-bridge-login" content="yes">'
    assert answer.headers["cache-control"] == "no-cache"


def test_assets_are_kept_forever_in_the_form_that_is_accepted(folder):
    client = client_of(folder)
    packed, plain = (client.get("/assets/index-1.js", headers={"Accept-Encoding": accepted}) for accepted in ("gzip, br", "identity"))
    assert packed.text == plain.text == SCRIPT
    assert packed.headers["content-length"] == str(len(gzip.compress(SCRIPT.encode(), mtime=0)))
    assert {answer.headers["cache-control"] for answer in (packed, plain)} == {"public, max-age=31536000, immutable"}
    assert plain.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize("name", ["absent.js", "..%2Fsecret.txt", "..%2f..%2fetc%2fpasswd", "%2e%2e/secret.txt", "index-1.js%00"])
def test_nothing_else_is_an_asset(folder, name):
    assert client_of(folder).get(f"/assets/{name}").status_code == 404


def test_another_build_takes_the_place_of_the_first(folder):
    client = client_of(folder)
    assert client.get("/assets/index-2.js").status_code == 404
    (folder / "assets" / "index-2.js").write_text("2")
    (folder / "index.html").write_text(SHELL + "2")
    assert client.get("/assets/index-2.js").text == "2"


def test_without_a_build_it_is_said_how_to_get_one(tmp_path):
    client = client_of(tmp_path)
    assert "make page-build" in client.get("/").text
    assert client.get("/assets/index-1.js").status_code == 404


def test_the_policy_lets_the_page_load_nothing_from_elsewhere(server: Server) -> None:
    answer = server.asking_for_keys().get("/")
    assert answer.status_code == 200
    policy = answer.headers.get_list("content-security-policy")
    assert len(policy) == 1
    assert set(re.findall(r"'[^']+'|https?:|data:|\*", policy[0])) == {"'none'", "'self'"}
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_below_a_path_its_base_is_there(server: Server) -> None:
    policy = server.policy(required=True)
    access = type(policy)(policy.authenticator, required=True, external=ExternalAddress("https://lineage.example", "/data/lineage"))
    for path in ("/", "/view/x", "/data/lineage/", "/data/lineage/view/x"):
        text = server.client_of("192.0.2.1", access=access).get(path).text
        assert 'href="/data/lineage/"' in text or "make page-build" in text
