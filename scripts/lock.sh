#!/bin/sh
# Makes the lock files anew. Each pins, for Python 3.10 and later, all that a Makefile target needs.
set -eu

python=$(scripts/find_python.sh)
[ -x .venv-lock/bin/uv ] || {
    "$python" -m venv .venv-lock
    .venv-lock/bin/python -m pip install --quiet --disable-pip-version-check uv
}

compile() {
    output=$1
    shift
    .venv-lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.10 \
        --no-emit-index-url --no-emit-find-links --generate-hashes --no-header \
        "$@" --output-file "$output"
    echo "$output: $(grep -c '==' "$output") pins"
}

newest="pyproject.toml --all-extras --group dev"
# shellcheck disable=SC2086
compile requirements.lock $newest
# shellcheck disable=SC2086
echo "pyspark~=4.2.0" | compile requirements-spark-4.2.lock $newest --constraint -
compile requirements-demo.lock pyproject.toml
compile requirements-docs.lock --group docs
# The Python package and the JAR go together, and the JARs of 4.4.1 are not on Maven Central.
echo "delta-spark==4.4.0" | compile requirements-delta.lock -
# pip wants hashes of extras that dbt asks for. The parser of dbt 2 is not on the package index.
printf 'dbt-core~=1.11.0\ndbt-spark~=1.11.0\n' | \
    compile requirements-dbt.lock pyproject.toml - --no-strip-extras
