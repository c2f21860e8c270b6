"""The command `secret`: manages the encrypted secrets file in the data folder of this machine."""

import re
import sys

import click

from lineage_bridge.cli.command import Group
from lineage_bridge.cli.console import print_json, print_line, print_message
from lineage_bridge.cli.options import with_output, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.errors import RequestError
from lineage_bridge.sources.runtime.sealed_secrets import new_key
from lineage_bridge.wiring import shared
from lineage_bridge.wiring.audit import record_command

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
_name = click.argument("name")


@click.group(cls=Group, examples=("secret key", "secret set confluent/cloud", "secret list"))
def secret() -> None:
    """Keep secrets in an encrypted file.

    Sources refer to them as ${sealed:NAME}. docs/secrets.md describes the file and its key.
    """


@secret.command(examples=("secret key", "secret key --print"))
@click.option("--print", "printed", is_flag=True, help="print a new key instead of writing a file")
@with_settings("data_dir")
def key(settings: Settings, printed: bool) -> None:
    """Create the encryption key, in a file only you may read."""
    if printed:
        print_line(new_key())
        return
    file = shared.sealed_secrets(settings)
    file.make_key()
    record_command(settings, "secret key")
    print_line(f"the key is in {file.key_file}; without it the secrets are lost, so keep a copy outside the data folder")


@secret.command(name="set", examples=("secret set confluent/cloud", "secret set confluent/cloud < file"))
@_name
@with_settings("data_dir")
def set_(settings: Settings, name: str) -> None:
    """Encrypt the secret NAME. Its value is prompted for, or read from standard input."""
    if not _NAME.fullmatch(name):
        raise RequestError(f"{name!r} is not a valid secret name", "use letters, digits and . _ - /, and begin with a letter or digit")
    value = click.prompt(name, hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.read()
    value = value.removesuffix("\n").removesuffix("\r")
    if not value:
        raise RequestError("the secret is empty", "pass it on standard input")
    shared.sealed_secrets(settings).set(name, value)
    record_command(settings, "secret set", name)
    print_line(f"encrypted; refer to it in sources as ${{sealed:{name}}}")


@secret.command(name="list", examples=("secret list",))
@with_output("print the names as JSON")
@with_settings("data_dir")
def list_(settings: Settings, as_json: bool) -> None:
    """List the names of the secrets."""
    names = shared.sealed_secrets(settings).names()
    if as_json:
        print_json(list(names))
        return
    for name in names:
        print_line(name)
    if not names:
        print_message("there are no secrets; see: lineage-bridge secret set --help")


@secret.command(examples=("secret remove confluent/cloud",))
@_name
@with_settings("data_dir")
def remove(settings: Settings, name: str) -> None:
    """Remove the secret NAME from the file."""
    shared.sealed_secrets(settings).remove(name)
    record_command(settings, "secret remove", name)
    print_line(f"{name} is removed")


@secret.command(examples=("secret rotate",))
@with_settings("data_dir")
def rotate(settings: Settings) -> None:
    """Encrypt all secrets with a new key, and delete the old key.

    If the key is in an environment variable, first put a new key in front of the old one, separated by a comma.
    """
    file = shared.sealed_secrets(settings)
    file.rotate()
    record_command(settings, "secret rotate")
    print_line(f"{file.path} is encrypted with the new key")
