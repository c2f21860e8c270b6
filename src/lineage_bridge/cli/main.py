"""The program `lineage-bridge`. It imports the module of a command only when the command is used."""

import gc
import importlib
import os
import sys
from types import ModuleType

import click

from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import print_error
from lineage_bridge.errors import ConfigError, LineageBridgeError, RequestError

COMMANDS = {
    "serve": "serve",
    "api": "api",
    "pipeline": "pipeline",
    "observe": "observe",
    "inputs": "inputs",
    "publisher": "publisher",
    "status": "status",
    "source": "source",
    "input": "input",
    "target": "target",
    "publish": "publish",
    "secret": "secret",
    "key": "key",
    "session": "session",
    "audit": "audit",
    "extract": "extract",
    "enrich": "enrich",
    "watch": "watch",
    "task": "task",
    "send": "send",
    "lineage": "lineage",
    "impact": "impact",
    "paths": "paths",
    "trace": "trace",
    "ledger": "ledger",
    "search": "search",
    "pin": "pin",
    "runs": "runs",
    "diff": "diff",
    "drift": "drift",
    "end": "end",
    "changes": "changes",
    "stats": "stats",
    "schemas": "schemas",
    "facets": "facets",
    "foreign": "foreign",
    "life": "life",
    "alias": "alias",
    "quarantine": "quarantine",
    "demo": "demo",
    "export": "export",
    "verify": "export",
    "analyse": "analyse",
    "sql": "sql",
    "replay": "replay",
    "jars": "jars",
    "log": "log",
    "backup": "backup",
    "restore": "backup",
    "erase": "erase",
    "retention": "retention",
    "version": "version",
}
"""Each command with the module under `cli` that implements it, in the order of the help."""
PARTS = {"questions": "questions", "publication": "publish"}
"""Commands that only other commands start."""


class LazyGroup(Group):
    """A group of commands, each of which is imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names of all commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command with this name; None if there is none."""
        name = {**COMMANDS, **PARTS}.get(cmd_name)
        if name is None:
            return None
        module = _imported(f"lineage_bridge.cli.{name}")
        # A command with the name of a Python built-in or keyword is defined with an underscore after its name.
        command: click.Command = getattr(module, f"{cmd_name}_", None) or getattr(module, cmd_name)
        return command


def _imported(name: str) -> ModuleType:
    """Import a module while the garbage collector rests: it would look again and again through what stays loaded as long as the process."""
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.enable()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    examples=("serve --demo", "send events.ndjson", "lineage NAMESPACE NAME"),
)
def cli() -> None:
    """LineageBridge: the OpenLineage home for streaming.

    Run a command with --help for its options.

    Settings come from flags, LINEAGE_BRIDGE_* variables or a file, in this order: docs/settings.md.
    """


def run(arguments: list[str] | None = None) -> int:
    """Run a command line. Returns the exit code: 0 success, 1 failure, 2 wrong usage, 130 interrupted. Errors are printed in one line."""
    try:
        code = cli.main(args=arguments, prog_name="lineage-bridge", standalone_mode=False)
    except click.ClickException as error:
        return _usage_error(error)
    except LineageBridgeError as error:
        print_error(str(error), error.hint)
        return 2 if isinstance(error, ConfigError | RequestError) else 1
    except (click.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        # The program that reads the output, such as `head`, has closed the pipe: nothing more can be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    return code if isinstance(code, int) else 0


def _usage_error(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return 2
    context = getattr(error, "ctx", None)
    print_error(error.format_message(), f"see {context.command_path if context else 'lineage-bridge'} --help")
    return 2


def main() -> None:
    """The entry point of the program."""
    sys.exit(run())


if __name__ == "__main__":
    main()
