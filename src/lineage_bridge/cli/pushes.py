"""The option `--push`, with which a command afterwards publishes to all targets of a catalog. Catalogs have the names of the LineageBridge
prototype.
"""

from collections.abc import Callable
from functools import wraps
from typing import TypeAlias

import click

from lineage_bridge.cli.client import Client, Json
from lineage_bridge.cli.console import print_line, print_message
from lineage_bridge.cli.publish import is_published, print_report, publish_to
from lineage_bridge.errors import LineageBridgeError, RequestError

Decorator: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]
PROVIDERS = ("databricks_uc", "aws_glue", "google", "datazone")


def with_pushes(when: str, **flags: str) -> Decorator:
    """Add `--push` to a command, and a flag for each of some providers. The command gets them as `pushes`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(*args: object, push: tuple[str, ...], **kwargs: object) -> None:
            chosen = [*push, *(provider for flag, provider in flags.items() if kwargs.pop(flag))]
            command(*args, pushes=tuple(dict.fromkeys(chosen)), **kwargs)

        decorated: Callable[..., None] = run
        for flag, provider in reversed(flags.items()):
            decorated = click.option(f"--{flag.replace('_', '-')}", is_flag=True, help=f"as --push {provider}")(decorated)
        choice, about = click.Choice(PROVIDERS), f"{when}, publish to all targets of this catalog; can be repeated"
        return click.option("--push", multiple=True, type=choice, metavar="PROVIDER", help=f"{about}: {', '.join(PROVIDERS)}")(decorated)

    return decorate


def targets_of(client: Client, pushes: tuple[str, ...]) -> list[str]:
    """The names of the targets to push to. Raises RequestError for a catalog that has no target."""
    found: list[str] = []
    for item in client.get("/api/v1/push/providers")["details"] if pushes else ():
        if item["provider"] in pushes:
            if not item["targets"]:
                hint = f"add one: lineage-bridge target add NAME {item['kind']} ..."
                raise RequestError(
                    f"{item['provider']} has no target", hint if item["available"] else "this release has no kind of target for it"
                )
            found += item["targets"]
    return found


def run_pushes(client: Client, targets: list[str], *, as_json: bool) -> tuple[dict[str, Json], bool]:
    """Publish to targets, one after the other. Returns the report of each, and whether all was published.

    If a publication could not begin, or the command lost sight of it, its report only has `state` (`failed`), `error` and, if there is one,
    `hint`.
    """
    reports = {name: _publish_to(client, name, as_json=as_json) for name in targets}
    return reports, all(map(is_published, reports.values()))


def _publish_to(client: Client, name: str, *, as_json: bool) -> Json:
    try:
        report = publish_to(client, name, plan=False, prune=False, overwrite=False)
    except LineageBridgeError as error:
        print_message(f"target {name}: not published: {error}" + (f" ({error.hint})" if error.hint else ""))
        return {"state": "failed", "error": str(error)} | ({"hint": error.hint} if error.hint else {})
    if not as_json:
        print_line(f"target {name}:")
        print_report(report)
    return report
