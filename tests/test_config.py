"""Settings from their four places, and errors that name the setting and the place."""

import os
import re
from pathlib import Path

import pytest

from lineage_bridge.config import DataFolder, Settings, load_settings, user_credentials
from lineage_bridge.errors import ConfigError


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "settings.toml"
        path.write_text(text)
        return path

    return write


def refused(flags=None, environ=None, folder=Path("/"), config=None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_settings(flags or {}, environ or {}, folder, config)
    return caught.value


def test_a_flag_wins_over_the_environment_that_over_the_file_that_over_the_default(tmp_path, file):
    path = file('port = 1\nhost = "127.0.0.2"\nlog_level = "debug"\n')
    settings = load_settings({"port": "3"}, {"LINEAGE_BRIDGE_PORT": "2", "LINEAGE_BRIDGE_HOST": "127.0.0.3"}, tmp_path, path)
    assert (settings.port, settings.host, settings.log_level) == (3, "127.0.0.3", "debug")
    assert settings.trigger_ms == Settings().trigger_ms


def test_the_file_is_the_flag_s_then_the_environment_s_then_the_folder_s(tmp_path):
    for number, name in enumerate(("flag.toml", "environment.toml", "lineage-bridge.toml"), 1):
        (tmp_path / name).write_text(f"port = {number}\n")
    environ = {"LINEAGE_BRIDGE_CONFIG": "environment.toml"}
    assert load_settings({}, environ, tmp_path, Path("flag.toml")).port == 1
    assert load_settings({}, environ, tmp_path).port == 2
    assert load_settings({}, {}, tmp_path).port == 3


def test_an_unknown_setting_is_named_with_its_origin_and_near_names(file):
    in_environment = refused(environ={"LINEAGE_BRIDGE_PROT": "1"})
    assert "LINEAGE_BRIDGE_PROT in the environment" in str(in_environment)
    assert "LINEAGE_BRIDGE_PORT" in in_environment.hint
    path = file("prot = 1\n")
    in_file = refused(config=path)
    assert f"prot in {path}" in str(in_file)
    assert "port" in in_file.hint
    assert "--prot" in str(refused(flags={"prot": "1"}))


@pytest.mark.parametrize("text", ["x", "8.5", "", "true", "65536", "-1"])
def test_an_ill_typed_setting_is_named_with_its_origin_even_if_another_origin_wins(text):
    error = refused(flags={"port": "9"}, environ={"LINEAGE_BRIDGE_PORT": text})
    assert "LINEAGE_BRIDGE_PORT in the environment" in str(error)
    assert repr(text) in str(error)
    assert "8000" in error.hint


@pytest.mark.parametrize("line", ["port = true", 'port = "8000"', "port = 8.0", "port = 2026-01-01", "host = 1", "[port]"])
def test_a_file_gives_settings_their_own_type(file, line):
    assert "in /" in str(refused(config=file(line + "\n")))


@pytest.mark.parametrize("line", ["port = ", "\x00", "port = 1\nport = 2"])
def test_a_file_that_is_no_toml_is_named(file, line):
    path = file(line)
    assert str(path) in str(refused(config=path))


def test_a_missing_file_is_named_with_the_origin_of_its_name(tmp_path):
    assert "--config" in refused(folder=tmp_path, config=Path("no.toml")).hint
    assert "LINEAGE_BRIDGE_CONFIG" in refused(folder=tmp_path, environ={"LINEAGE_BRIDGE_CONFIG": "no.toml"}).hint


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "0.0.0.0", "::", "10.0.0.1"])
def test_the_host_is_an_address(host):
    settings = load_settings({"host": host}, {}, Path("/"))
    assert settings.host == host
    assert settings.is_on_loopback == (host in ("127.0.0.1", "127.9.9.9", "::1", "localhost"))


@pytest.mark.parametrize("host", ["example.org", "", "*", "0.0.0.0:8000"])
def test_no_name_of_another_machine_is_a_host(host):
    error = refused(flags={"host": host})
    assert "--host" in str(error)
    assert "IP address" in str(error)


def test_variables_of_other_programs_are_ignored():
    assert load_settings({}, {"LINEAGE_BRIDGE_IVY_SETTINGS": "x", "PORT": "y"}, Path("/")) == Settings()


def test_the_environment_of_a_child_gives_the_same_settings(tmp_path):
    settings = load_settings({"port": "0", "data_dir": str(tmp_path), "spark_master": "local[2]"}, {}, tmp_path)
    (tmp_path / "lineage-bridge.toml").write_text("port = 5\n")
    assert load_settings({}, settings.environment(), tmp_path) == settings


def test_the_data_folder_is_absolute_and_knows_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load_settings({"data_dir": "~/x"}, {}, Path("/")).data_dir == tmp_path / "x"
    assert load_settings({"data_dir": "x"}, {}, Path("/")).data_dir.is_absolute()
    assert "--data-dir" in str(refused(flags={"data_dir": ""}))


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("::1", "http://[::1]:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("::", "http://[::1]:8000"),
    ],
)
def test_the_address_is_host_and_port_unless_a_url_is_set(host, address):
    assert Settings(host=host).address == address
    assert Settings(host=host, url="http://elsewhere:1/").address == "http://elsewhere:1"


def test_settings_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        Settings().port = 1


PEOPLE = """
[oidc.company]
issuer = "https://login.company.example/realms/staff"
audience = "lineage"
roles_claim = "realm_access.roles"

[roles.data-platform]
scopes = ["read", "operate"]

[roles."*"]
scopes = ["read"]

[trusted_proxy]
addresses = ["10.0.0.5", "10.1.0.0/16"]
groups_header = "X-Forwarded-Groups"
"""


def test_people_are_known_by_issuers_roles_and_a_proxy(file, tmp_path):
    settings = load_settings({}, {}, Path("/"), file(PEOPLE))
    company = settings.oidc["company"]
    assert (company.audience, company.name_claim, company.clock_skew_s) == (("lineage",), "preferred_username", 60)
    assert settings.roles["data-platform"].scopes == ("read", "operate")
    assert settings.trusted_proxy.addresses == ("10.0.0.5", "10.1.0.0/16")
    assert load_settings({}, settings.environment(), tmp_path) == settings


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("company]", "Company]", "cannot be the name of an issuer"),
        ("company]", "proxy]", "not 'proxy'"),
        ("https://login", "http://login", "https"),
        ("/realms/staff", "/realms/staff?x=1", "query"),
        ('audience = "lineage"', "audience = []", "oidc.*company.audience"),
        ('audience = "lineage"', "", "company.audience: Field required"),
        ('audience = "lineage"', 'audience = "lineage"\nalgorithms = ["RS256", "HS256"]', "'HS256' is not an accepted algorithm"),
        ('audience = "lineage"', 'audience = "lineage"\nalgorithms = ["none"]', "'none' is not an accepted algorithm; use one of RS256"),
        ('audience = "lineage"', 'audience = "lineage"\nclock_skew_s = 3600', "company.clock_skew_s"),
        ('audience = "lineage"', 'audience = "lineage"\naudiences = "x"', "company.audiences: Extra inputs"),
        ('["read", "operate"]', "[]", "roles.*data-platform.scopes"),
        ('"10.0.0.5"', '"proxy.example"', "trusted_proxy.*addresses"),
        ('"X-Forwarded-Groups"', '"X Groups:"', "trusted_proxy.*groups_header"),
        (
            "[roles.data-platform]",
            '[oidc.again]\nissuer = "https://login.company.example/realms/staff"\naudience = "x"\n[roles.x]',
            "the same issuer",
        ),
    ],
)
def test_issuers_roles_and_a_proxy_that_cannot_be(file, before, after, reason):
    assert before in PEOPLE
    path = file(PEOPLE.replace(before, after))
    error = refused(config=path)
    assert re.search(reason, str(error))
    assert str(path) in str(error)


RETENTION = """
[[retention]]
namespace = "staging*"
runs_days = 14

[[retention]]
events_days = 30
runs_days = 90
facets_days = 365
"""


def test_retention_is_a_list_of_rules_and_reaches_other_processes(file, tmp_path):
    settings = load_settings({}, {}, Path("/"), file(RETENTION))
    assert [(rule.namespace, rule.days) for rule in settings.retention] == [
        ("staging*", (None, 14, None, None)),
        ("*", (30, 90, None, 365)),
    ]
    assert load_settings({}, settings.environment(), tmp_path) == settings


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("runs_days = 14", "", "at least one"),
        ("events_days = 30", "events_days = 91", "must not exceed runs_days"),
        ("facets_days = 365", "facets_days = 89", "facets_days needs runs_days"),
        ("runs_days = 14", "runs_days = 0", "greater than or equal to 1"),
        ("runs_days = 14", "days = 14", "retention.*days"),
    ],
)
def test_rules_of_retention_that_cannot_be(file, before, after, reason):
    assert before in RETENTION
    assert re.search(reason, str(refused(config=file(RETENTION.replace(before, after)))))


def test_every_setting_is_documented_with_its_default():
    text = (Path(__file__).parent.parent / "docs" / "settings.md").read_text()
    for name, field in Settings.model_fields.items():
        (row,) = (line for line in text.splitlines() if line.startswith(f"| `{name}`"))
        if field.default_factory is None and field.default != "":
            assert f"| `{field.default}` |".lower() in row.lower()


def test_the_data_folder_belongs_to_its_user_alone(tmp_path):
    folder, before = DataFolder(tmp_path / "data"), os.umask(0o022)
    try:
        (folder.data_dir / "log").mkdir(parents=True)
        folder.state.touch()
        folder.protect()
        (folder.data_dir / "later").touch()
        modes = {path.name: path.stat().st_mode & 0o777 for path in (folder.data_dir, folder.log, folder.state, folder.data_dir / "later")}
    finally:
        os.umask(before)
    assert modes == {"data": 0o700, "log": 0o700, "state.db": 0o600, "later": 0o600}


def test_commands_send_the_key_of_the_file_or_else_of_the_environment(tmp_path):
    (tmp_path / "key").write_text(" lb_file\n")
    assert user_credentials(Settings(), {}) == ""
    assert user_credentials(Settings(), {"LINEAGE_BRIDGE_API_KEY": "lb_variable\n"}) == "lb_variable"
    assert user_credentials(Settings(api_key_file=str(tmp_path / "key")), {"LINEAGE_BRIDGE_API_KEY": "lb_variable"}) == "lb_file"


@pytest.mark.parametrize("text", ["lb a", "schlüssel", "a\nb", "a\r\nX-Other: b"])
def test_what_is_no_key_is_not_sent(text, tmp_path):
    with pytest.raises(ConfigError, match="LINEAGE_BRIDGE_API_KEY") as raised:
        user_credentials(Settings(), {"LINEAGE_BRIDGE_API_KEY": text})
    assert text not in str(raised.value)
    with pytest.raises(ConfigError, match="absent"):
        user_credentials(Settings(api_key_file=str(tmp_path / "absent")), {})


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("postgresql://graph:hunter2@db/lineage", "PGPASSFILE"),
        ("postgresql://graph:hun/ter2@db/lineage", "PGPASSFILE"),
        ("postgresql://graph:hun?ter2@db/lineage", "PGPASSFILE"),
        ("postgresql://graph:hunt@er2@db/lineage", "PGPASSFILE"),
        ("postgresql://db/lineage?password=hunter2", "PGPASSFILE"),
        ("postgresql://db/lineage?sslmode=require&pass%77ord=hunter2", "PGPASSFILE"),
        ("postgresql://db/lineage?sslkey=k&sslpassword=hunter2", "PGPASSFILE"),
        ("postgresql://us?er@db/lineage?password=hunter2", "PGPASSFILE"),
        ("postgresql://us?er@db/lineage?sslmode=require&pass%77ord=hunter2", "PGPASSFILE"),
        ("postgresql://db/lineage?oauth_client_secret=hunter2", "PGPASSFILE"),
        ("postgresql://db/lineage?scram_client_key=hunter2", "PGPASSFILE"),
        ("postgresql://db/lineage?scram_server_key=hunter2", "PGPASSFILE"),
        ("postgresql://db/lineage?options=-csearch_path%3Dhunter2", "store_schema"),
        ("host=db password=hunter2", "postgresql://"),
        ("mysql://graph:hunter2@db/lineage", "postgresql://"),
    ],
)
def test_an_address_of_the_store_with_a_password_is_refused_and_not_repeated(address, reason, file):
    path = file(f'store = "{address}"\n')
    for error in (refused({"store": address}), refused(environ={"LINEAGE_BRIDGE_STORE": address}), refused(config=path)):
        assert reason in str(error)
        shown = f"{error}{error.hint}{error.__cause__}"
        assert "hun" not in shown, shown


@pytest.mark.parametrize(
    "address",
    [
        "",
        "postgresql://db/lineage",
        "postgres://graph@db1:5432,db2:5433/lineage?target_session_attrs=read-write&sslmode=verify-full&sslrootcert=/etc/ca.pem",
        "postgresql:///?service=lineage",
        "postgresql://graph@[::1]:5432/lineage",
        "postgresql://%2Frun%2Fpostgresql/lineage?passfile=/etc/lineage.pgpass",
    ],
)
def test_addresses_of_the_store(address):
    assert load_settings({"store": address}, {}, Path("/")).store == address


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("postgresql://replica1,replica2/lineage", "several servers"),
        ("postgresql://graph@a:5432%2Cb/lineage", "several servers"),
        ("postgresql:///lineage?host=a,b", "several servers"),
        ("postgresql:///lineage?hostaddr=10.0.0.1%2C10.0.0.2", "several servers"),
        ("postgresql://graph:secret@db/lineage", "PGPASSFILE"),
    ],
)
def test_an_address_of_a_replica_names_one_server(address, reason):
    error = str(refused({"store_replica": address}))
    assert (reason in error, "secret@" in error) == (True, False), error


@pytest.mark.parametrize("address", ["", "postgresql://graph@replica:5432/lineage?application_name=a,b", "postgresql:///?service=lineage"])
def test_addresses_of_a_replica(address):
    assert load_settings({"store_replica": address}, {}, Path("/")).store_replica == address


@pytest.mark.parametrize("name", ["", "Graph", "a-b", 'a"b', "1a", "x" * 56, "lineage_replay", "_replay"])
def test_a_schema_of_the_store_is_a_plain_name(name):
    assert "--store-schema" in str(refused({"store_schema": name}))
