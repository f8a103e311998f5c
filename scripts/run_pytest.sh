#!/bin/sh
# Runs pytest: `run_pytest.sh PYTHON [arguments]`. That no test was selected is no failure.
set -u

python=$1
shift
"$python" -m pytest "$@"
status=$?
if [ "$status" = 5 ]; then
    echo "no test to run here yet"
    exit 0
fi
exit "$status"
