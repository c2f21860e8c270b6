"""What is tried inside the virtual machine, as root: the documentation's commands, and what they promise. Standard library only.

It prints a line for each thing that holds and a traceback for each that does not, and at the end `HOLDS`,
or the end of the journal and `FAILS`.
"""

import json
import os
import re
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

SEED = Path("/mnt")
WORK = Path("/srv/install")
ETC = Path("/etc/lineage-bridge")
SERVICE, USER = "lineage-bridge", "lineage-bridge"
NAME = "lineage.example.com"
URL = f"https://{NAME}:8000"
PROGRAM = "/opt/lineage-bridge/bin/lineage-bridge"
AUTHORITY = WORK / "authority.pem"
SPARK_LOG = Path("/var/lib/lineage-bridge/logs/spark.log")
DROP_IN = Path(f"/etc/systemd/system/{SERVICE}.service.d/emulated.conf")
# What Java's second compiler costs an emulated processor is more than what it saves in these minutes.
EMULATED = '[Service]\nEnvironment="JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"\n'
PATIENCE_S = 1200
PROGRESS_S = 60
STOP_S = 70
EVENT = {
    "eventType": "COMPLETE",
    "producer": "https://example.com/fraud",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
    "job": {"namespace": "fraud", "name": "score-orders"},
    "inputs": [{"namespace": "kafka://broker.internal:9092", "name": "orders"}],
}
# Written to by root in the unit's own view of the files, where only these options stand in the way.
READ_ONLY = ("/usr", "/etc/lineage-bridge", "/opt/lineage-bridge", "/var/lib", "/root", "/home")
OWN = ("/var/lib/lineage-bridge/written", "/tmp/written", "/var/tmp/written")


def main() -> None:
    """Tries everything, in this order, whatever does not hold."""
    key = install()
    attempts = (serves, is_confined, reloads_the_certificate, comes_back_when_killed, restarts, comes_after_a_boot, stops, judged)
    failed = [attempt.__name__ for attempt in attempts if not holds(attempt, key)]
    if failed:
        subprocess.run(["tail", "-n", "40", SPARK_LOG], check=False)
        subprocess.run(["journalctl", "--no-pager", "--lines", "120"], check=False)
    report(f"FAILS: {', '.join(failed)}" if failed else "HOLDS")


def holds(attempt: Callable[[str], None], key: str) -> bool:
    """Whether what one part tries holds; says what does not."""
    try:
        attempt(key)
    except (AssertionError, OSError, ValueError, KeyError):
        report(traceback.format_exc())
        return False
    return True


def log(text: str) -> None:
    report(f"{time.monotonic():7.1f} s  {text}")


def report(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def run(*command: str, environment: dict[str, str] | None = None) -> str:
    """What a command prints; fails with all that it printed."""
    env = {**os.environ, **(environment or {})}
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}"
    return done.stdout.strip()


def eventually(what: str, holds: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    """Returns once it holds; fails when time is up. Once a minute it prints the last line of Spark's log."""
    begun = printed = time.monotonic()
    while not holds():
        now = time.monotonic()
        assert now < begun + seconds, f"not within {seconds:.0f} s: {what}"
        if now > printed + PROGRESS_S:
            printed = now
            log(f"waits until {what}; Spark's log ends with {last_line(SPARK_LOG)!r}")
        time.sleep(0.5)
    log(f"{what} (after {time.monotonic() - begun:.1f} s)")


def last_line(file: Path) -> str:
    """The last line of a file, empty if there is none."""
    lines = file.read_text(errors="replace").splitlines() if file.is_file() else []
    return lines[-1] if lines else ""


def install() -> str:
    """Runs the documentation's commands in a folder with its files, and certificates; the key that they print."""
    WORK.mkdir()
    for name in ("lineage-bridge.toml", "lineage-bridge.service"):
        (WORK / name).write_bytes((SEED / name).read_bytes())
    (WORK / "oidc").write_text("a secret of the issuer's client")
    openssl = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={NAME} -addext subjectAltName=DNS:{NAME}".split()
    for name in ("", "next-"):
        run(*openssl, "-keyout", str(WORK / f"{name}key.pem"), "-out", str(WORK / f"{name}chain.pem"))
    AUTHORITY.write_text((WORK / "chain.pem").read_text() + (WORK / "next-chain.pem").read_text())
    (address,) = re.findall(r"inet ([\d.]+)/\d+ .*global", eventually_address())
    with Path("/etc/hosts").open("a") as hosts:
        # As Debian's installer writes it; the packages alone do not.
        hosts.write(f"127.0.0.1 localhost\n{address} {NAME}\n")
    if subprocess.run(["systemd-detect-virt"], capture_output=True, text=True, check=False).stdout.strip() == "qemu":
        DROP_IN.parent.mkdir()
        DROP_IN.write_text(EMULATED)
    log("install: the documentation's commands begin")
    # The wheels are on the second disk: the machine has no way out.
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(SEED / "wheels"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    printed = run("sh", "-euxc", f"cd {WORK}\n{(SEED / 'install.sh').read_text()}", environment=offline)
    (key,) = re.findall(r"\blb_\w+", printed)
    log("install: all commands ended with 0")
    return str(key)


def eventually_address() -> str:
    """What `ip` says once the network has an address."""
    eventually("the network has an address", lambda: "global" in run("ip", "-4", "addr"))
    return run("ip", "-4", "addr")


def shown(name: str) -> str:
    """A property of the unit."""
    return run("systemctl", "show", SERVICE, "--property", name, "--value")


def curl(path: str, *options: str) -> str:
    """The status of a request, or 000."""
    done = subprocess.run(
        ["curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--cacert", AUTHORITY, *options, URL + path],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def is_up() -> bool:
    return curl("/api/v1/health") == "200"


def sends_and_asks(key: str, table: str, others: tuple[str, ...] = ()) -> None:
    """An event is accepted with the key only, and a question about its output is answered."""
    run_id = f"0198c0de-0000-7000-8000-{sum(map(ord, table)):012d}"
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    outputs = [{"namespace": "kafka://broker.internal:9092", "name": table}]
    event = json.dumps({**EVENT, "eventTime": now, "run": {"runId": run_id}, "outputs": outputs})
    post = ("--json", event)
    assert curl("/api/v1/lineage", *post) == "401"
    assert curl("/api/v1/lineage", *post, "--header", f"Authorization: Bearer {key}") == "201"
    log(f"an event is refused without a key (401) and accepted with it (201): {table}")
    query = "namespace=kafka%3A%2F%2Fbroker.internal%3A9092&name=orders&direction=downstream"
    bearer = ("--header", f"Authorization: Bearer {key}")
    # Cheaper than the command, which starts a Python each time; the processor may be emulated.
    eventually("the answer has a lineage", lambda: curl(f"/api/v1/lineage/datasets/lineage?{query}", *bearer) == "200")
    program = (PROGRAM, "lineage", "kafka://broker.internal:9092", "orders", "--direction", "downstream")
    where = ("--url", URL, "--url-ca-file", str(AUTHORITY))

    def answered() -> bool:
        done = subprocess.run(
            [*program, *where], env={**os.environ, "LINEAGE_BRIDGE_API_KEY": key}, capture_output=True, text=True, check=False
        )
        return all(name in done.stdout for name in (table, *others))

    eventually(f"a question names {', '.join((table, *others))}", answered)


def serves(key: str) -> None:
    eventually("systemctl is-active", lambda: shown("ActiveState") == "active")
    eventually("health is answered over TLS on an address that is not loopback", is_up)
    report(run("systemctl", "status", "--no-pager", "--lines", "4", SERVICE))
    sends_and_asks(key, "scores-first")


def processes() -> list[int]:
    """All processes of the unit; none once it has no control group."""
    control_group = shown("ControlGroup")
    file = Path(f"/sys/fs/cgroup{control_group}/cgroup.procs")
    return [int(line) for line in file.read_text().split()] if control_group and file.is_file() else []


def is_confined(_key: str) -> None:
    """Every process of the unit, Java too, has the options of the unit; files outside its folder are read-only even for root."""
    main_pid = shown("MainPID")
    names = []
    for pid in processes():
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
        found = {name: status[name].strip() for name in ("CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")}
        assert found == {"CapEff": "0" * 16, "CapBnd": "0" * 16, "CapAmb": "0" * 16, "NoNewPrivs": "1", "Seccomp": "2"}, (pid, found)
        assert status["Umask"] == "0077"
        assert Path(f"/proc/{pid}").owner() == USER
        names.append(status["Name"])
    assert "java" in names, names
    log(f"no capabilities, no new privileges, system calls filtered: {', '.join(sorted(names))}")
    inside = ("nsenter", "--target", main_pid, "--mount")
    for path in [f"{folder}/written" for folder in READ_ONLY]:
        done = subprocess.run([*inside, "touch", path], capture_output=True, text=True, check=False)
        assert done.returncode != 0, f"{path} was written"
        log(f"root in the unit's view: {done.stderr.strip()}")
    for path in OWN:
        run(*inside, "setpriv", "--reuid", USER, "--regid", USER, "--clear-groups", "touch", path)
        run(*inside, "rm", path)
    log(f"written as the unit's user: {', '.join(OWN)}")
    devices = run(*inside, "ls", "/dev").split()
    assert not {"vda", "kmsg", "mem"} & set(devices), devices
    seen = run(*inside, "setpriv", "--reuid", USER, "--regid", USER, "--clear-groups", "ls", "/proc").split()
    assert main_pid in seen, seen
    assert "1" not in seen, seen
    log("no disks among its devices, no processes of others in /proc")
    credential = "/run/credentials/lineage-bridge.service/oidc"
    run(*inside, "setpriv", "--reuid", USER, "--regid", USER, "--clear-groups", "cat", credential)
    for command in (f"runuser -u {USER} -- cat {ETC}/oidc", "runuser -u nobody -- ls /var/lib/lineage-bridge"):
        assert subprocess.run(command.split(), capture_output=True, check=False).returncode != 0, command
    log("the credential is readable in the unit and its source is not; nobody else reads the data folder")


def served_certificate() -> str:
    return run("sh", "-c", f"openssl s_client -connect {NAME}:8000 </dev/null 2>/dev/null | openssl x509 -noout -fingerprint")


def reloads_the_certificate(_key: str) -> None:
    before, main_pid = served_certificate(), shown("MainPID")
    for name in ("chain", "key"):
        run("install", "-m", "640", "-g", USER, str(WORK / f"next-{name}.pem"), str(ETC / f"{name}.pem"))
    expected = run("openssl", "x509", "-noout", "-fingerprint", "-in", str(ETC / "chain.pem"))
    assert before != expected
    eventually("new connections get the replaced certificate", lambda: served_certificate() == expected, 120)
    assert shown("MainPID") == main_pid
    assert is_up()


def comes_back_when_killed(key: str) -> None:
    before, old = shown("MainPID"), set(processes())
    os.kill(int(before), 9)
    eventually("killed with -9, systemd starts it again", lambda: shown("NRestarts") == "1" and shown("MainPID") not in ("0", before), 300)
    assert not old & set(processes())
    eventually("health is answered again", is_up)
    sends_and_asks(key, "scores-after-kill", ("scores-first",))


def restarts(key: str) -> None:
    before = shown("MainPID")
    begun = time.monotonic()
    run("systemctl", "restart", SERVICE)
    log(f"systemctl restart returned after {time.monotonic() - begun:.1f} s")
    assert shown("MainPID") not in ("0", before)
    eventually("health is answered again", is_up)
    sends_and_asks(key, "scores-after-restart", ("scores-first", "scores-after-kill"))


def comes_after_a_boot(_key: str) -> None:
    assert run("systemctl", "is-enabled", SERVICE) == "enabled"
    assert "lineage-bridge.service" in run("systemctl", "list-dependencies", "--plain", "multi-user.target")
    log("it is expected by multi-user.target")


def stops(_key: str) -> None:
    begun = time.monotonic()
    run("systemctl", "stop", SERVICE)
    took = time.monotonic() - begun
    assert shown("Result") == "success", shown("Result")
    assert took < STOP_S
    assert not processes()
    log(f"stopped after {took:.1f} s of {STOP_S} s, with exit code {shown('ExecMainStatus')} and no process left")


def judged(_key: str) -> None:
    report(run("systemd-analyze", "security", "--no-pager", SERVICE).splitlines()[-1])
    assert not run("systemd-analyze", "verify", f"/etc/systemd/system/{SERVICE}.service")
    journal = run("journalctl", "--unit", SERVICE, "--no-pager", "--output", "short-monotonic")
    assert "Ready: the graph is complete" in journal
    assert "Killing process" in journal or "code=killed, status=9/KILL" in journal
    for word in ("Operation not permitted", "Traceback", "Read-only file system", "Permission denied"):
        assert word not in journal, journal
    report(journal)


if __name__ == "__main__":
    main()
