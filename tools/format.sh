#!/bin/sh
# Writes the format, and the fixes the linter is sure of.
set -eu
cd "$(dirname "$0")/.."
.venv/bin/ruff check --fix-only --quiet
.venv/bin/ruff format --quiet
.venv/bin/python tools/page.py format
