"""Sealed secrets: which keys open them, when they are never overwritten, and what a crash leaves."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sources import scripted

from lineage_bridge.errors import ConfigError, NotFoundError, RequestError
from lineage_bridge.sources.common.settings import Secrets, SourceContext, reveal
from lineage_bridge.sources.runtime.metadata_cache import make_observer
from lineage_bridge.sources.runtime.sealed_secrets import SealedFile, new_key
from lineage_bridge.sources.runtime.service import SourceService
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.sources import SourceRepository


@pytest.fixture
def sealed(tmp_path: Path) -> SealedFile:
    made = SealedFile(tmp_path / "data" / "secrets.sealed", tmp_path / "config" / "secrets.key")
    made.make_key()
    made.set("cloud", "s3cr€t")
    made.set("registry", "öther\nlines")
    return made


def test_sealed_secrets_can_be_opened_and_are_not_in_the_file_as_text(sealed: SealedFile):
    assert (sealed.names(), sealed.secret("cloud"), sealed.secret("registry")) == (["cloud", "registry"], "s3cr€t", "öther\nlines")
    text = sealed.path.read_bytes()
    assert all(secret not in text for secret in (b"cloud", b"s3cr", b"registry"))
    assert [stat.S_IMODE(path.stat().st_mode) for path in (sealed.path, sealed.key_file)] == [0o600, 0o600]


def test_a_secret_is_replaced_and_removed(sealed: SealedFile):
    sealed.set("cloud", "new")
    sealed.remove("registry")
    assert (sealed.names(), sealed.secret("cloud")) == (["cloud"], "new")
    with pytest.raises(NotFoundError):
        sealed.remove("registry")
    with pytest.raises(ConfigError, match="has no secret registry"):
        sealed.secret("registry")


@pytest.mark.parametrize("key", ["", "no key", new_key()], ids=["lost", "nonsense", "another"])
def test_without_the_right_key_no_secret_is_opened_or_overwritten(sealed: SealedFile, key: str):
    sealed.key_file.write_text(key)
    before = sealed.path.read_bytes()
    for use in (
        sealed.names,
        sealed.rotate,
        lambda: sealed.secret("cloud"),
        lambda: sealed.set("cloud", "hunter2"),
        lambda: sealed.remove("cloud"),
    ):
        with pytest.raises(ConfigError) as refused:
            use()
        assert "hunter2" not in str(refused.value)
        assert key not in str(refused.value) or len(key) < 10
    assert (sealed.path.read_bytes(), sealed.key_file.read_text()) == (before, key)


def test_no_key_is_made_if_there_is_one_or_if_the_sealed_file_needs_a_lost_one(sealed: SealedFile):
    with pytest.raises(RequestError, match="already"):
        sealed.make_key()
    sealed.key_file.unlink()
    with pytest.raises(RequestError, match="is missing"):
        sealed.make_key()
    assert not sealed.key_file.exists()


def test_a_damaged_file_is_reported_and_kept(sealed: SealedFile):
    for content in (b"", sealed.path.read_bytes()[:-9], b"\xff"):
        sealed.path.write_bytes(content)
        with pytest.raises(ConfigError, match="damaged"):
            sealed.set("cloud", "x")
        assert sealed.path.read_bytes() == content


def test_a_key_that_others_may_read_is_refused(sealed: SealedFile):
    sealed.key_file.chmod(0o640)
    with pytest.raises(ConfigError, match="other users can read"):
        sealed.secret("cloud")


def test_a_key_in_the_environment_takes_precedence_and_is_rotated_by_the_user(sealed: SealedFile):
    old, new = sealed.key_file.read_text().strip(), new_key()
    sealed.key_file.unlink()
    with pytest.raises(RequestError, match="only one key"):
        SealedFile(sealed.path, sealed.key_file, old).rotate()
    SealedFile(sealed.path, sealed.key_file, f"{new},{old}").rotate()
    assert SealedFile(sealed.path, sealed.key_file, new).secret("cloud") == "s3cr€t"
    with pytest.raises(ConfigError):
        SealedFile(sealed.path, sealed.key_file, old).secret("cloud")
    assert not sealed.key_file.exists()


def test_rotating_seals_with_a_new_key_only(sealed: SealedFile):
    old = sealed.key_file.read_text()
    sealed.rotate()
    assert sealed.secret("cloud") == "s3cr€t"
    assert sealed.key_file.read_text() != old
    sealed.key_file.write_text(old)
    with pytest.raises(ConfigError):
        sealed.secret("cloud")


KILLED = """
import os, sys
from pathlib import Path
from lineage_bridge.sources.runtime.sealed_secrets import SealedFile
path, key_file, left = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
def watch(event, arguments):
    global left
    if event in ("open", "os.rename", "os.remove") and str(arguments[0]).startswith(str(path.parent.parent)):
        left -= 1
        if left < 0:
            os._exit(9)
sys.addaudithook(watch)
sealed = SealedFile(path, key_file)
sealed.set("third", "3")
sealed.rotate()
"""


def test_a_crash_at_any_moment_leaves_a_file_that_the_key_file_opens(sealed: SealedFile):
    for step in range(100):
        done = subprocess.run([sys.executable, "-c", KILLED, sealed.path, sealed.key_file, str(step)], check=False)
        assert (sealed.secret("cloud"), sealed.secret("registry")) == ("s3cr€t", "öther\nlines"), step
        if done.returncode == 0:
            break
    assert step > 12
    assert sealed.secret("third") == "3"
    assert len(sealed.key_file.read_text().split()) == 1


def test_a_source_refers_to_a_sealed_secret_and_cannot_store_a_given_one(sealed: SealedFile, tmp_path: Path, scripts: dict):
    scripts["a"] = []
    context = SourceContext(Secrets(sealed.secret, {"t1": "given s3cret"}))
    settings = {"system": "a", "password": "${sealed:cloud}"}
    assert reveal(make_observer("s", "scripted", settings, context, scripted.KINDS).settings.password) == "s3cr€t"
    assert (
        reveal(make_observer("s", "scripted", {**settings, "password": "${given:t1}"}, context, scripted.KINDS).settings.password)
        == "given s3cret"
    )
    assert "s3cr" not in repr(context)
    service = SourceService(
        {}, SourceRepository(StateDatabase(tmp_path / "state.db")), context=SourceContext(Secrets(sealed.secret)), kinds=scripted.KINDS
    )
    service.add("s", "scripted", settings, replace=False)
    assert "s3cr" not in repr(service.record("s"))
    for password in ("${given:t1}", "${given:t2}", "s3cr€t"):
        with pytest.raises(ConfigError) as refused:
            service.add("t", "scripted", {**settings, "password": password}, replace=False)
        assert "s3cr" not in str(refused.value) + refused.value.hint
    assert scripted.SCRIPTS


def test_a_given_secret_that_was_forgotten_cannot_be_revealed(scripts: dict):
    scripts["a"] = []
    given = {"t1": "given s3cret"}
    observer = make_observer(
        "s", "scripted", {"system": "a", "password": "${given:t1}"}, SourceContext(Secrets(given=given)), scripted.KINDS
    )
    given.clear()
    with pytest.raises(ConfigError, match="no longer known"):
        reveal(observer.settings.password)
