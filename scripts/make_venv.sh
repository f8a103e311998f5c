#!/bin/sh
# Makes a virtual environment from a lock file: `make_venv.sh PYTHON VENV LOCK [editable]`.
#
# An environment that already holds this very lock is left as it is.
set -eu

python=$1 venv=$2 lock=$3 editable=${4:-}

[ -n "$python" ] || exit 1
wanted=$(cksum < "$lock")
[ "$editable" != editable ] || wanted="$wanted $(cksum < pyproject.toml)"
if [ -f "$venv/.ready" ] && [ "$(cat "$venv/.ready")" = "$wanted" ]; then
    touch "$venv/.ready"
    exit 0
fi
# Debian's Python comes without what makes virtual environments.
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if ! "$(dirname "$0")/apt_install.sh" "this Python has no venv" "python$version-venv"; then
        echo "$python cannot make virtual environments: install its venv, or name another by PYTHON=" >&2
        exit 1
    fi
fi
echo "setting up $venv from $lock (the first time takes a few minutes)"
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
# Modules are compiled when they are first imported, which most of them never are.
DIST_EXTRA_CONFIG="$(cd "$(dirname "$0")" && pwd)/stored_wheels.cfg"
export DIST_EXTRA_CONFIG
"$venv/bin/python" -m pip install -qq --disable-pip-version-check --no-compile -r "$lock"
if [ "$editable" = editable ]; then
    "$venv/bin/python" -m pip install -qq --disable-pip-version-check --no-deps -e .
fi
echo "$wanted" > "$venv/.ready"
