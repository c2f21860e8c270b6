"""What `serve` says in the terminal as its parts come up."""

import shutil
import threading
from pathlib import Path

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.console import say
from lineage_bridge.cli.demo import DASHBOARD, load_edition
from lineage_bridge.config import Settings
from lineage_bridge.errors import LineageBridgeError

LOOK_S = 0.3


class Greeting:
    """Tells where the server answers, loads the demo, tells when all is ready. `program` is how the user calls us."""

    def __init__(self, settings: Settings, program: str, stop: threading.Event) -> None:
        self.settings, self.program, self.stop = settings, program, stop

    def run(self, *, load_demo: bool) -> None:
        """Until all is ready, or the end. A server that is asked to end while it is greeted says no more."""
        with Client(self.settings.address) as client:
            if not self._wait_for(client, "/api/v1/health"):
                return
            self._welcome()
            position = self._load_demo(client) if load_demo else ""
            if self._wait_for(client, "/api/v1/ready") and self._reflects(client, position):
                say(f"Ready. Try:\n\n  {self._suggestion(load_demo=load_demo)}\n\nCtrl+C stops it.")

    def _welcome(self) -> None:
        address = self.settings.address
        say(f"LineageBridge answers at {address} (every call: {address}/docs).")
        say(f"Producers need OPENLINEAGE_URL={address}. Data is kept in {self.settings.data_dir}.")
        say("Spark is starting; events are already accepted.")

    def _wait_for(self, client: Client, path: str) -> bool:
        while not self.stop.wait(LOOK_S):
            if client.answers(path):
                return True
        return False

    def _load_demo(self, client: Client) -> str:
        try:
            count, position = load_edition(self.settings, client)
        except LineageBridgeError as error:
            say(f"The demo was not loaded: {error}. Try: {self.program} demo load")
            return ""
        say(f"The data folder was empty: the demo's {count} events are in.")
        return position

    def _reflects(self, client: Client, position: str) -> bool:
        try:
            client.wait_for(position)
        except LineageBridgeError as error:
            say(f"The demo is not in the answers yet: {error}")
        return not self.stop.is_set()

    def _suggestion(self, *, load_demo: bool) -> str:
        standard = self.settings.port == Settings.model_fields["port"].default
        url = "" if standard else f" --url {self.settings.address}"
        if load_demo:
            return f'{self.program} lineage "{DASHBOARD[0]}" "{DASHBOARD[1]}"{url}'
        return f"{self.program} status{url}"


def called_as(argument: str, folder: Path) -> str:
    """How the user can call this program again from `folder`: by its name if that is on the path, else by its place."""
    path = Path(argument)
    if path.name in ("", "main.py"):
        return "python -m lineage_bridge.cli.main"
    if shutil.which(path.name):
        return path.name
    place = path.absolute()
    return str(place.relative_to(folder) if place.is_relative_to(folder) else place)
