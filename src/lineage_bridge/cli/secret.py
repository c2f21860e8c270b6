"""`secret`: the file of sealed secrets, in the data folder of this machine."""

import re
import sys

import click

from lineage_bridge import wiring
from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import say, write
from lineage_bridge.cli.options import with_settings
from lineage_bridge.config import Settings
from lineage_bridge.errors import RequestError
from lineage_bridge.sources.runtime.sealed_secrets import new_key

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
_name = click.argument("name")


@click.group(cls=Group, examples=("secret key", "secret set confluent/cloud", "secret list"))
def secret() -> None:
    """Seal secrets in a file with a key of yours.

    Sources refer to them as ${sealed:NAME}. docs/secrets.md tells where file and key lie.
    """


@secret.command(examples=("secret key", "secret key --print"))
@click.option("--print", "printed", is_flag=True, help="print a new key instead, to be kept by you")
@with_settings("data_dir")
def key(settings: Settings, printed: bool) -> None:
    """Make the key that seals, in a file only you may read."""
    if printed:
        write(new_key())
        return
    file = wiring.sealed(settings)
    file.make_key()
    write(f"the key is in {file.key_file}; who loses it loses the secrets, so keep a copy apart from the data folder")


@secret.command(name="set", examples=("secret set confluent/cloud", "secret set confluent/cloud < file"))
@_name
@with_settings("data_dir")
def set_(settings: Settings, name: str) -> None:
    """Seal the secret NAME, which is asked for, or read from standard input."""
    if not _NAME.fullmatch(name):
        raise RequestError(f"{name!r} cannot be the name of a secret", "letters, digits, . _ - /; a letter or digit first")
    value = click.prompt(name, hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.read()
    value = value.removesuffix("\n").removesuffix("\r")
    if not value:
        raise RequestError("the secret is empty", "it is read from standard input")
    wiring.sealed(settings).set(name, value)
    write(f"sealed; sources refer to it as ${{sealed:{name}}}")


@secret.command(name="list", examples=("secret list",))
@with_settings("data_dir")
def list_(settings: Settings) -> None:
    """List the names of the sealed secrets."""
    names = wiring.sealed(settings).names()
    for name in names:
        write(name)
    if not names:
        say("nothing is sealed; see: lineage-bridge secret set --help")


@secret.command(examples=("secret remove confluent/cloud",))
@_name
@with_settings("data_dir")
def remove(settings: Settings, name: str) -> None:
    """Take the secret NAME out of the file."""
    wiring.sealed(settings).remove(name)
    write(f"{name} is removed")


@secret.command(examples=("secret rotate",))
@with_settings("data_dir")
def rotate(settings: Settings) -> None:
    """Seal all secrets with a new key, and forget the old one.

    A key in the environment is yours to change: put the new one before the old first, separated by a comma.
    """
    file = wiring.sealed(settings)
    file.rotate()
    write(f"{file.path} is sealed with a new key")
