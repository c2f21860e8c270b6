"""Puts the web page into what is built: a wheel or an sdist without it is an error."""

import runpy
from pathlib import Path
from typing import Any

from setuptools import Command, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
INDEX = ROOT / "src" / "lineage_bridge" / "api" / "web" / "static" / "index.html"


def build_page(command: Command) -> None:
    """Build the page from its sources, where they are; in an sdist it is built already."""
    if (ROOT / "web" / "package.json").is_file():
        page: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "page.py"))
        page["build"]()
    if not INDEX.is_file():
        raise RuntimeError(f"{command.get_command_name()}: the web page is missing: {INDEX}")


class BuildWithPage(build_py):
    """Copies the package after the page was built; an editable installation uses the checkout, where `make run` builds it."""

    def run(self) -> None:
        """Build the page, then copy."""
        if not self.editable_mode:
            build_page(self)
            self.__dict__.pop("data_files", None)
        super().run()


class SdistWithPage(sdist):
    """Packs the page that was built, and none of what it is built from."""

    def run(self) -> None:
        """Build the page, then pack."""
        build_page(self)
        super().run()


setup(cmdclass={"build_py": BuildWithPage, "sdist": SdistWithPage})
