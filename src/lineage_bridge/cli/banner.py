"""Prints what `serve` shows in the terminal while its parts start."""

import logging
import shutil
import threading
from pathlib import Path

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.console import format_count, print_message
from lineage_bridge.cli.demo import DASHBOARD, load_edition, send_heartbeats
from lineage_bridge.config import Settings
from lineage_bridge.config.tls import trusted_by_clients
from lineage_bridge.demo.jobs import HEARTBEAT_S
from lineage_bridge.errors import LineageBridgeError
from lineage_bridge.wiring.access import asks_for_keys
from lineage_bridge.wiring.people import knows_people
from lineage_bridge.wiring.shared import internal_credentials

POLL_S, AGAIN_S = 0.3, 60.0
log = logging.getLogger(__name__)


class StartupBanner:
    """Prints the server's addresses, loads the demo, and reports when the graph is complete. `program` is the command that starts
    LineageBridge.

    With `demo`, it also sends the heartbeats of the demo's streaming jobs while the server runs.
    """

    def __init__(self, settings: Settings, program: str, stop: threading.Event) -> None:
        self.settings, self.program, self.stop = settings, program, stop

    def run(self, *, demo: bool, empty: bool) -> None:
        """Print until the graph is complete, then send the demo's heartbeats. Does nothing more once `stop` is set.

        `demo`: load the demo if the data folder is `empty`.
        """
        load_demo = demo and empty
        with Client(self.settings.address, lambda: internal_credentials(self.settings), trusted_by_clients(self.settings)) as client:
            if not self._wait_for(client, "/api/v1/health"):
                return
            self._print_addresses()
            position = self._load_demo(client) if load_demo else ""
            if not self._wait_for(client, "/api/v1/ready"):
                return
            if self._wait_for_graph(client, position):
                print_message("Ready: the graph is complete, all events are in the answers.")
                print_message(f"Try:\n\n  {self._suggestion(load_demo=load_demo)}\n\nPress Ctrl+C to stop.")
            if demo:
                self._send_heartbeats(client, HEARTBEAT_S if load_demo else AGAIN_S)

    def _print_addresses(self) -> None:
        address = self.settings.address
        print_message(f"LineageBridge is running at {address} (API documentation: {address}/docs).")
        if self.settings.external:
            print_message(f"Browsers reach it at {self.settings.external.url}.")
        if self.settings.insecure_open and not self.settings.is_local:
            print_message("Anyone who reaches this machine can use it without a key: --insecure-open.")
        elif asks_for_keys(self.settings):
            others = ", or the credentials of an issuer or proxy in the settings" if knows_people(self.settings) else ""
            print_message(f"Requests need an API key{others}; see: lineage-bridge key --help")
        print_message(f"Set OPENLINEAGE_URL={address} in your producers. Data is stored in {self.settings.data_dir}.")
        print_message("Spark is starting. Events are accepted already; answers contain them once Spark is up.")

    def _wait_for(self, client: Client, path: str) -> bool:
        while not self.stop.wait(POLL_S):
            if client.answers(path):
                return True
        return False

    def _load_demo(self, client: Client) -> str:
        try:
            count, position = load_edition(self.settings, client)
        except LineageBridgeError as error:
            print_message(f"The demo was not loaded: {error}. Load it with: {self.program} demo load")
            return ""
        print_message(f"The data folder was empty, so the demo was loaded: {format_count(count, 'event')}, not in the answers yet.")
        return position

    def _send_heartbeats(self, client: Client, seconds: float) -> None:
        """Send the heartbeats of the demo's streaming jobs until the server stops, the first ones after `seconds`. Heartbeats that cannot
        be sent are left out; the next ones contain their rows too.
        """
        while not self.stop.wait(seconds):
            seconds = HEARTBEAT_S if self._has_sent(client) else AGAIN_S

    def _has_sent(self, client: Client) -> bool:
        try:
            send_heartbeats(self.settings, client)
        except LineageBridgeError as error:
            log.debug("the reports of the demo's streams cannot be sent: %s", error)
            return False
        return True

    def _wait_for_graph(self, client: Client, position: str) -> bool:
        """Wait until answers contain all events and nothing is settling. Returns False if this failed, or the banner was stopped before."""
        try:
            client.wait_for(position)
            while client.readiness()["settling"]:
                if self.stop.wait(POLL_S):
                    return False
        except LineageBridgeError as error:
            print_message(f"The graph is not complete yet: {error}. See: {self.program} status{self._url_flag()}")
            return False
        return not self.stop.is_set()

    def _suggestion(self, *, load_demo: bool) -> str:
        if load_demo:
            return f'{self.program} lineage "{DASHBOARD[0]}" "{DASHBOARD[1]}"{self._url_flag()}'
        return f"{self.program} status{self._url_flag()}"

    def _url_flag(self) -> str:
        standard = self.settings.port == Settings.model_fields["port"].default
        return "" if standard else f" --url {self.settings.address}"


def program_name(argument: str, folder: Path) -> str:
    """The command that starts this program from `folder`: its name if it is on the PATH, otherwise its file."""
    path = Path(argument)
    if path.name in ("", "main.py"):
        return "python -m lineage_bridge.cli.main"
    if shutil.which(path.name):
        return path.name
    file = path.absolute()
    return str(file.relative_to(folder) if file.is_relative_to(folder) else file)
