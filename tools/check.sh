#!/bin/sh
# check.sh [tests]: format, lint, types and the direction of imports: all that is judged without running the product.
# With `tests`, all tests are loaded once beside it, so that the workers of a run, which begin together, find them compiled.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/.venv/bin:$PATH

if ! ruff format --check; then
    echo "make check: 'make format' mends the format" >&2
    exit 1
fi
ruff check --quiet

# The types take as long as all that follows, and are checked beside it.
mypy &
types=$!
loading=
trap 'kill $types $loading 2>/dev/null || true' EXIT
if [ "${1:-}" = tests ]; then
    # A test that cannot be loaded fails the run, which says why.
    PYTHONDONTWRITEBYTECODE= python -m pytest --collect-only --numprocesses 0 -qq -p no:cacheprovider >/dev/null 2>&1 &
    loading=$!
fi
lint-imports --no-logo
python tools/page.py check
python tools/page.py test
wait $types
[ -z "$loading" ] || wait $loading || true
trap - EXIT
