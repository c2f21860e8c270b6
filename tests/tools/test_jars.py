"""The cache holds archives with the pinned bytes only."""

import hashlib

import pytest
from tools.jars import GROUPS, fetch

from lineage_bridge.errors import JarError
from lineage_bridge.pipeline.streams.jars import IVY_SETTINGS, Ivy, Jar, fetch_jars, ivy_for, module_description

BYTES = b"an archive"
JAR = Jar("org.example", "thing", "1.0", hashlib.sha256(BYTES).hexdigest())


@pytest.fixture
def ivy(tmp_path):
    """A stand-in for Java that writes the given content where Ivy should put its files, or fails."""

    def make(content=BYTES, code=0):
        program = tmp_path / "java"
        program.write_text(
            "#!/bin/sh\n"
            "for last; do :; done\n"
            f'printf %s "{content.decode()}" > "${{last%/*}}/{JAR.file_name}"\n'
            f"echo 'UNRESOLVED DEPENDENCY thing'; exit {code}\n"
        )
        program.chmod(0o755)
        return Ivy(java=str(program))

    return make


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


NO_JAVA = Ivy(java="no-such-program")


def test_a_fetched_archive_is_cached_and_not_fetched_again(ivy, cache):
    paths = fetch_jars([JAR], cache, ivy())
    assert [path.read_bytes() for path in paths] == [BYTES]
    assert [path.name for path in cache.iterdir()] == ["thing-1.0.jar"]
    assert fetch_jars([JAR], cache, NO_JAVA) == paths


def test_a_damaged_file_in_the_cache_is_replaced(ivy, cache):
    cache.mkdir()
    (cache / JAR.file_name).write_bytes(b"half an arch")
    assert fetch_jars([JAR], cache, ivy())[0].read_bytes() == BYTES


def test_other_bytes_never_enter_the_cache(ivy, cache):
    with pytest.raises(JarError) as raised:
        fetch_jars([JAR], cache, ivy(content=b"other"))
    assert all(word in str(raised.value) for word in (JAR.file_name, JAR.sha256, hashlib.sha256(b"other").hexdigest()))
    assert list(cache.iterdir()) == []


def test_a_failure_reports_the_output_of_ivy(ivy, cache):
    with pytest.raises(JarError, match=r"cannot fetch thing-1\.0\.jar: UNRESOLVED DEPENDENCY") as raised:
        fetch_jars([JAR], cache, ivy(code=1))
    assert IVY_SETTINGS in raised.value.hint


def test_without_java_the_hint_says_to_install_it(cache):
    with pytest.raises(JarError, match="cannot run Ivy") as raised:
        fetch_jars([JAR], cache, NO_JAVA)
    assert "Java 17 or 21" in raised.value.hint


def test_an_unknown_group_is_refused(cache):
    with pytest.raises(JarError, match="'agents'") as raised:
        fetch("agents", cache)
    assert "agent, delta, iceberg, kafka" in raised.value.hint


def test_every_archive_is_pinned_and_nothing_is_resolved_transitively():
    for jars in GROUPS.values():
        assert all(len(bytes.fromhex(jar.sha256)) == hashlib.sha256().digest_size for jar in jars)
        assert module_description(jars).count('transitive="false"') == len(jars)


def test_an_archive_with_a_classifier_or_type_is_described_by_them():
    plugin = Jar("org.example", "thing", "1.0", "", classifier="plugin", type="tar.gz")
    assert plugin.file_name == "thing-1.0-plugin.tar.gz"
    assert '<artifact name="thing" type="tar.gz" ext="tar.gz" m:classifier="plugin"/>' in module_description([plugin])
    assert "<artifact" not in module_description([JAR])


def test_ivy_runs_on_the_java_of_spark_with_the_configured_mirror(tmp_path):
    settings = tmp_path / "mirror.xml"
    settings.write_text("<ivysettings/>")
    assert ivy_for({}) == Ivy("java", None)
    assert ivy_for({"JAVA_HOME": "/jdk", IVY_SETTINGS: str(settings)}) == Ivy("/jdk/bin/java", settings)
    with pytest.raises(JarError, match=IVY_SETTINGS):
        ivy_for({IVY_SETTINGS: str(tmp_path / "absent.xml")})
