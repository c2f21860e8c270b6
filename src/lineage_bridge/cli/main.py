"""The command `lineage-bridge`. Each command's file is loaded when the command is used."""

import importlib
import os
import sys

import click

from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import tell_error
from lineage_bridge.errors import ConfigError, LineageBridgeError, RequestError

COMMANDS = {
    "serve": "serve",
    "api": "serve",
    "pipeline": "serve",
    "observe": "serve",
    "status": "status",
    "source": "source",
    "secret": "secret",
    "extract": "extract",
    "watch": "watch",
    "task": "task",
    "send": "send",
    "lineage": "lineage",
    "impact": "impact",
    "paths": "paths",
    "trace": "trace",
    "ledger": "ledger",
    "search": "search",
    "runs": "runs",
    "diff": "diff",
    "drift": "drift",
    "end": "end",
    "changes": "changes",
    "stats": "stats",
    "schemas": "schemas",
    "facets": "facets",
    "life": "facets",
    "alias": "alias",
    "quarantine": "quarantine",
    "demo": "demo",
    "export": "export",
    "verify": "export",
    "analyse": "analyse",
    "sql": "sql",
    "replay": "replay",
    "version": "version",
}
"""Command to the module under `cli` that holds it, in the order of the help."""


class LazyGroup(Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command, or None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"lineage_bridge.cli.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name)
        return command


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    examples=("serve --demo", "send events.ndjson", "lineage NAMESPACE NAME"),
)
def cli() -> None:
    """LineageBridge: the OpenLineage home for streaming.

    Every command tells more with --help. Settings are flags, variables LINEAGE_BRIDGE_* or a file, in this order: docs/settings.md.
    """


def run(arguments: list[str] | None = None) -> int:
    """Run a command line; its exit code: 0 done, 1 failed, 2 wrongly used, 130 interrupted. Errors are told in one line."""
    try:
        code = cli.main(args=arguments, prog_name="lineage-bridge", standalone_mode=False)
    except click.ClickException as error:
        return _misused(error)
    except LineageBridgeError as error:
        tell_error(str(error), error.hint)
        return 2 if isinstance(error, ConfigError | RequestError) else 1
    except (click.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        # The reader of our output has gone, which is its right; nothing more can be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    return code if isinstance(code, int) else 0


def _misused(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return 2
    context = getattr(error, "ctx", None)
    tell_error(error.format_message(), f"see {context.command_path if context else 'lineage-bridge'} --help")
    return 2


def main() -> None:
    """The entry point of the command."""
    sys.exit(run())


if __name__ == "__main__":
    main()
