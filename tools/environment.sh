#!/bin/sh
# environment.sh SET COMMAND...: runs COMMAND with .venv set up for SET (run, dev), after a check of the prerequisites.
set -eu
cd "$(dirname "$0")/.."

# Downloads are kept outside the checkout: in the user's cache folder, or, for a user without a home that can be written,
# in a private one among the temporary files.
cache_is_usable() {
    [ -n "${HOME:-}" ] && mkdir -p "$HOME/.cache" 2>/dev/null && [ -w "$HOME/.cache" ]
}

if [ -z "${XDG_CACHE_HOME:-}" ] && ! cache_is_usable; then
    XDG_CACHE_HOME=${TMPDIR:-/tmp}/lineage-bridge-cache-$(id -u)
    mkdir -p -m 700 "$XDG_CACHE_HOME"
    if ! [ -O "$XDG_CACHE_HOME" ]; then
        echo "lineage-bridge: $XDG_CACHE_HOME belongs to somebody else; set XDG_CACHE_HOME to a folder of yours" >&2
        exit 1
    fi
    export XDG_CACHE_HOME
fi
if [ -n "${XDG_CACHE_HOME:-}" ]; then
    export PIP_CACHE_DIR="${PIP_CACHE_DIR:-$XDG_CACHE_HOME/pip}"
fi

set_name=$1
shift
python=$(sh tools/prerequisites.sh)
"$python" tools/environment.py "$set_name"
exec "$@"
