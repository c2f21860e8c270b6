"""The servers' archives are pinned, and an incomplete folder never gets the final name."""

import os
from xml.etree import ElementTree as ET

import pytest
from tests.servers import archives

from lineage_bridge.pipeline.streams.jars import IVY_SETTINGS

NAMES = sorted(path.stem for path in archives.LOCKS.glob("*.lock"))


def test_every_archive_is_pinned_and_has_its_own_place_in_the_cache():
    jars = {jar for name in NAMES for jar in archives.pinned(name)}
    assert all(len(bytes.fromhex(jar.sha256)) == 32 for jar in jars)
    assert len({jar.file_name for jar in jars}) == len(jars)


def test_coordinates_are_read_with_their_classifier_and_type():
    (plugin,) = archives.pinned("debezium-postgres")
    assert (plugin.organisation, plugin.artifact, plugin.classifier, plugin.type) == (
        "io.debezium",
        "debezium-connector-postgres",
        "plugin",
        "tar.gz",
    )


def test_the_users_mirror_is_used(tmp_path, monkeypatch):
    mirror = tmp_path / "mirror.xml"
    mirror.write_text("<ivysettings/>")
    monkeypatch.setitem(os.environ, IVY_SETTINGS, str(mirror))
    settings = archives.ivy_in(tmp_path).settings
    assert settings
    (include,) = ET.parse(settings).getroot().iter("include")
    assert include.attrib == {"file": str(mirror)}


def test_an_incomplete_folder_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "cache", lambda: tmp_path)

    def half(home):
        home.mkdir()
        (home / "first").touch()
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        archives.made("thing", [], half)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []
    whole = archives.made("thing", [], lambda home: home.mkdir())
    assert whole.is_dir()
    assert archives.made("thing", [], half) == whole
