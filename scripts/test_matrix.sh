#!/bin/sh
# Runs all tests on every supported Spark: the oldest with the oldest Python that is here, the
# newest with the newest.
set -eu

JAVA_HOME=$(scripts/ensure_java.sh)
export JAVA_HOME

row() {
    name=$1 python=$2 lock=$3
    echo "== $name, $("$python" --version)"
    scripts/make_venv.sh "$python" ".venv-$name" "$lock" editable
    scripts/run_pytest.sh ".venv-$name/bin/python" -n auto -m "not spark and not interop"
    scripts/run_pytest.sh ".venv-$name/bin/python" -n 2 --dist loadfile -m "spark and not interop"
}

row spark-4.2 "$(scripts/find_python.sh oldest)" requirements-spark-4.2.lock
row spark-4.3 "$(scripts/find_python.sh newest)" requirements.lock
echo "== all tests passed on Spark 4.2 and 4.3"
