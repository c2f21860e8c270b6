"""The Helm chart: what Helm makes of it, and whether Kubernetes would take it."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.deploy.helm import CHART, ROOT, Rendering, invalid, render

from lineage_bridge.config import Settings, load_settings

MANIFESTS = ROOT / "deploy" / "kubernetes" / "lineage-bridge.yaml"
VERSIONS = ("1.25", "1.28", "1.31", "1.34", "1.37")
SETTINGS = 'external_url = "https://lineage.example.com"\n\n[roles.data-platform]\nscopes = ["read", "operate"]\n'
ALL = {
    "image": {"repository": "images.example.com/lineage-bridge", "pullSecrets": [{"name": "images"}]},
    "settings": SETTINGS,
    "secrets": {"files": "lineage-secrets", "environment": "lineage-environment"},
    "environment": {"LINEAGE_BRIDGE_LOG_FORMAT": "json"},
    "tls": {"secret": "server-certificate"},
    "persistence": {"accessModes": ["ReadWriteMany"], "storageClass": "shared", "annotations": {"kept": "yes"}},
    "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "certificate", "annotations": {"a": "b"}},
    "podAnnotations": {"a": "b"},
    "podLabels": {"a": "b"},
    "nodeSelector": {"disk": "fast"},
    "tolerations": [{"key": "lineage", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "priorityClassName": "high",
    "podDisruptionBudget": {"enabled": True},
    "networkPolicy": {"from": [{"namespaceSelector": {"matchLabels": {"team": "data"}}}]},
    "serviceMonitor": {"enabled": True, "keySecret": {"name": "prometheus-key"}},
    "sparkOnKubernetes": {"enabled": True, "conf": {"spark.speculation": "true"}},
}
CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "all": ALL,
    "unknown": {"persistance": {"size": "1Gi"}},
    "unshared": {"sparkOnKubernetes": {"enabled": True}},
    "unmonitored": {"serviceMonitor": {"enabled": True}},
    "account": {"serviceAccount": {"name": "existing"}, "firstKey": {"create": False}, "networkPolicy": {"enabled": False}},
}


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Rendering:
    return render(CASES, tmp_path_factory.mktemp("chart"))


def objects(rendered: Rendering, case: str) -> dict[str, dict[str, Any]]:
    """The objects of a case by their kinds, of which each is there once."""
    found = [entry for entry in yaml.safe_load_all(rendered.manifests[case]) if entry]
    assert len({entry["kind"] for entry in found}) == len(found)
    return {entry["kind"]: entry for entry in found}


def test_helms_linter_finds_nothing(rendered: Rendering) -> None:
    assert list(rendered.lint) == ["[INFO] Chart.yaml: icon is recommended", "passed"]


@pytest.mark.parametrize("case", ["default", "all", "account"])
def test_kubernetes_schemas_accept_what_is_rendered(rendered: Rendering, case: str) -> None:
    found = objects(rendered, case)
    found.pop("ServiceMonitor", None)  # of the Prometheus operator, not of Kubernetes
    assert invalid(list(found.values()), VERSIONS) == []


def test_the_schemas_would_find_a_fault(rendered: Rendering) -> None:
    stateful = objects(rendered, "default")["StatefulSet"]
    stateful["spec"]["replica"] = 1
    (error,) = invalid([stateful], VERSIONS[-1:])
    assert error.startswith("1.37: StatefulSet: Additional properties are not allowed ('replica' was unexpected)")


@pytest.mark.parametrize(
    ("case", "error"),
    [
        ("unknown", "additional properties 'persistance' not allowed"),
        ("unshared", "persistence.accessModes has to be [ReadWriteMany]"),
        ("unmonitored", "serviceMonitor.keySecret.name names the secret with a key of the scope read"),
    ],
)
def test_values_that_cannot_work_are_refused(rendered: Rendering, case: str, error: str) -> None:
    assert error in rendered.errors[case]
    assert case not in rendered.manifests


def test_the_plain_manifests_are_those_of_the_chart(rendered: Rendering) -> None:
    if os.environ.get("TEST_REWRITE_MANIFESTS"):
        MANIFESTS.write_text(rendered.manifests["default"], encoding="utf-8")
    assert MANIFESTS.read_text(encoding="utf-8") == rendered.manifests["default"]


def test_the_chart_is_of_this_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert chart["version"] == chart["appVersion"] == version("lineage-bridge")


@pytest.mark.parametrize("case", ["default", "all"])
def test_containers_have_no_rights_and_a_root_that_is_read_only(rendered: Rendering, case: str) -> None:
    pod = objects(rendered, case)["StatefulSet"]["spec"]["template"]["spec"]
    assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 10001)
    # Variables that describe services would begin with LINEAGE_BRIDGE_, as settings do.
    assert pod["enableServiceLinks"] is False
    for container in pod["initContainers"] + pod["containers"]:
        security = container["securityContext"]
        assert security == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
        assert {"/tmp", "/var/lib/lineage-bridge"} <= {mount["mountPath"] for mount in container["volumeMounts"]}  # what is written
    assert pod["automountServiceAccountToken"] is (case == "all")


def test_the_server_understands_the_settings_that_it_is_given(rendered: Rendering, tmp_path: Path) -> None:
    found = objects(rendered, "all")
    for name, text in found["ConfigMap"]["data"].items():
        (tmp_path / name).write_text(text)
    (server,) = found["StatefulSet"]["spec"]["template"]["spec"]["containers"]
    given = {entry["name"]: entry.get("value", "10.0.0.7") for entry in server["env"] if entry["name"] != "SPARK_CONF_DIR"}
    assert given.pop("LINEAGE_BRIDGE_CONFIG") == "/etc/lineage-bridge/lineage-bridge.toml"
    settings = load_settings({}, given, tmp_path, tmp_path / "lineage-bridge.toml")
    assert isinstance(settings, Settings)
    assert (settings.external_url, sorted(settings.roles)) == ("https://lineage.example.com", ["data-platform"])
    assert (settings.spark_master, settings.spark_driver_host) == ("k8s://https://kubernetes.default.svc", "10.0.0.7")
    grace = found["StatefulSet"]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    assert grace > settings.stop_timeout_s


def test_executors_get_the_volume_of_the_server(rendered: Rendering) -> None:
    found = objects(rendered, "all")
    conf = dict(line.split(maxsplit=1) for line in found["ConfigMap"]["data"]["spark-defaults.conf"].splitlines())
    claim = found["StatefulSet"]["spec"]["volumeClaimTemplates"][0]["metadata"]["name"]
    name = found["StatefulSet"]["metadata"]["name"]
    volume = "spark.kubernetes.executor.volumes.persistentVolumeClaim.data"
    assert conf[f"{volume}.options.claimName"] == f"{claim}-{name}-0"
    assert conf[f"{volume}.mount.path"] == "/var/lib/lineage-bridge"
    assert conf["spark.kubernetes.driver.pod.name"] == f"{name}-0"
    assert conf["spark.speculation"] == "true"
    executor = yaml.safe_load(found["ConfigMap"]["data"]["executor.yaml"])
    assert invalid([executor], VERSIONS) == []
    ports = [entry["port"] for rule in found["NetworkPolicy"]["spec"]["ingress"][1:] for entry in rule["ports"]]
    (server,) = found["StatefulSet"]["spec"]["template"]["spec"]["containers"]
    listens = {port["name"]: str(port["containerPort"]) for port in server["ports"]}
    assert [listens[name] for name in ports] == [conf["spark.driver.port"], conf["spark.driver.blockManager.port"]]
    peer = found["NetworkPolicy"]["spec"]["ingress"][1]["from"][0]["podSelector"]["matchLabels"]
    assert peer == executor["metadata"]["labels"]


def test_the_first_key_is_made_once(rendered: Rendering, tmp_path: Path) -> None:
    (first,) = objects(rendered, "default")["StatefulSet"]["spec"]["template"]["spec"]["initContainers"]
    environment = {
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "LINEAGE_BRIDGE_DATA_DIR": str(tmp_path / "data"),
    }
    for _ in range(2):
        subprocess.run(first["command"], env=environment, check=True, cwd=tmp_path)
    key = tmp_path / "first-key.json"
    assert json.loads(key.read_text())["key"].startswith("lb_")
    assert key.stat().st_mode & 0o077 == 0
    made = key.read_bytes()
    key.unlink()
    subprocess.run(first["command"], env=environment, check=True, cwd=tmp_path)
    assert made
    assert not key.exists()
