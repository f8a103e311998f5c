#!/bin/sh
# Prints a Python that truckee runs on: `find_python.sh [default|oldest|newest]`, or one of each
# supported version that is found, a line each: `find_python.sh all`.
#
# A command is asked for its version rather than trusted by name, since version managers put
# commands on the PATH that only print where the real one is.
set -eu

which=${1:-default}

supported() {
    "$1" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' 2>/dev/null
}

versions() {
    case $which in
        oldest | all) echo "3.10 3.11 3.12 3.13" ;;
        *) echo "3.13 3.12 3.11 3.10" ;;
    esac
}

if [ "$which" = default ]; then
    for command in python3 python; do
        if supported "$command"; then command -v "$command"; exit 0; fi
    done
fi
for version in $(versions); do
    for command in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python3; do
        if supported "$command"; then
            command -v "$command"
            if [ "$which" != all ]; then exit 0; fi
            found=yes
            break
        fi
    done
done
if [ -n "${found:-}" ]; then exit 0; fi
echo "truckee needs Python 3.10 to 3.13, and none was found" >&2
exit 1
