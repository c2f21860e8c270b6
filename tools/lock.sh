#!/bin/sh
# Writes the locks in requirements/ from pyproject.toml: hashed, good for every Python and platform, naming no registry.
# A locked version stays until a range in pyproject.toml moves it; `make lock ARGS=--upgrade` takes the newest of all.
set -eu
cd "$(dirname "$0")/.."

lock() { # lock FILE ARGUMENT...
    file=requirements/$1
    shift
    .venv/bin/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-annotate --no-header \
        --no-emit-index-url --no-emit-find-links --output-file "$file" "$@" >/dev/null
}

# The widest set decides the versions; the others are parts of it.
lock dev.txt pyproject.toml --all-extras --group build --group dev "$@"
lock run.txt pyproject.toml --constraints requirements/dev.txt
lock image.txt pyproject.toml --all-extras --constraints requirements/dev.txt
lock build.txt --group pyproject.toml:build --constraints requirements/dev.txt
# What the tests' servers are made of (and `make oracle` asks) is never part of .venv; the files ending in .in name it.
lock flink.txt requirements/flink.in "$@"
lock postgres.txt requirements/postgres.in --no-deps "$@"
lock object-stores.txt requirements/object-stores.in "$@"
lock moto.txt requirements/moto.in "$@"
lock pyatlan.txt requirements/pyatlan.in "$@"
lock nginx.txt requirements/nginx.in --no-deps "$@"
lock deploy.txt requirements/deploy.in --no-deps "$@"
# What `make producers` runs: an environment each, in the user's cache.
for file in requirements/producers-*.in; do
    name=$(basename "$file" .in)
    lock "$name.txt" "$file" "$@"
done
