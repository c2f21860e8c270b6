"""The credentials that a cloud gives the server's machine are used only if its operator says so."""

import os
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.utils import InstanceMetadataFetcher

from lineage_bridge.config import Settings
from lineage_bridge.errors import ConfigError
from lineage_bridge.inputs.files.azure import AzureSettings, AzureStore
from lineage_bridge.inputs.files.gcs import GcsSettings, GcsStore
from lineage_bridge.wiring.shared import source_context

VARIABLES = ("AWS_EC2_METADATA_DISABLED", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*VARIABLES, "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


def context(tmp_path: Path, **settings: Any) -> Any:
    return source_context(Settings(data_dir=tmp_path, **settings))


def test_amazon_s_clients_ask_neither_instance_nor_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:9/")
    context(tmp_path, machine_credentials=True)
    assert [name in os.environ for name in VARIABLES] == [False, True, False]
    context(tmp_path)
    assert [name in os.environ for name in VARIABLES] == [True, False, False]
    assert InstanceMetadataFetcher(timeout=1, num_attempts=1).retrieve_iam_role_credentials() == {}
    assert botocore.session.Session().get_component("credential_provider").get_provider("container-role").load() is None


@pytest.mark.parametrize(
    "store",
    [
        lambda context: GcsStore(GcsSettings.model_validate({"bucket": "bucket"}, context=context)),
        lambda context: AzureStore(AzureSettings.model_validate({"account": "account", "container": "container"}, context=context)),
        lambda context: AzureStore(
            AzureSettings.model_validate({"account": "account", "container": "container", "client_id": "identity"}, context=context)
        ),
    ],
    ids=["gcs", "azure", "azure-identity"],
)
def test_google_s_and_azure_s_clients_are_not_made(tmp_path: Path, store: Any) -> None:
    with pytest.raises(ConfigError, match="the settings do not allow inputs to use the credentials of this machine") as refused:
        store(context(tmp_path)).connect()
    assert "machine_credentials" in refused.value.hint
    store(context(tmp_path, machine_credentials=True)).connect()


def test_only_a_file_that_google_s_client_finds_by_itself_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere, known = tmp_path / "elsewhere", tmp_path / ".config" / "gcloud"
    for folder in (elsewhere, known):
        folder.mkdir(parents=True)
        (folder / "application_default_credentials.json").touch()
    assert context(tmp_path).withheld == {"azure"}
    monkeypatch.setenv("HOME", str(elsewhere))
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(elsewhere))
    assert context(tmp_path).withheld == {"azure", "google"}
    monkeypatch.setenv("HOME", str(tmp_path / ("x" * 300)))  # one that cannot be looked into
    assert context(tmp_path).withheld == {"azure", "google"}


def test_google_s_client_takes_a_file_of_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/run/google.json")
    assert context(tmp_path).withheld == {"azure"}
