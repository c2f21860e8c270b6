#!/bin/sh
# Format, lint, types and the direction of imports: all that is judged without running the product.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/.venv/bin:$PATH

if ! ruff format --check; then
    echo "make check: 'make format' mends the format" >&2
    exit 1
fi
ruff check --quiet
mypy
lint-imports --no-logo
python tools/page.py check
python tools/page.py test
