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
echo "setting up $venv from $lock (the first time takes a few minutes)"
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$lock"
if [ "$editable" = editable ]; then
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -e .
fi
echo "$wanted" > "$venv/.ready"
