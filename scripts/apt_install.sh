#!/bin/sh
# Installs the first of these packages that there is: `apt_install.sh "what is missing" PACKAGE...`.
#
# Words go to stderr, since callers print a path on stdout. Where there is no apt-get, or no right
# to use it, it fails and says nothing: the caller knows what to tell.
set -eu

missing=$1
shift

command -v apt-get >/dev/null 2>&1 || exit 1
if [ "$(id -u)" = 0 ]; then as_root=; else
    command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null || exit 1
    as_root="sudo -n"
fi

# apt-get is talkative: what it says goes to a file, and matters only if it fails.
install_first() {
    $as_root apt-get update -qq || return 1
    for package in "$@"; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            $as_root env DEBIAN_FRONTEND=noninteractive \
                apt-get install -y -qq --no-install-recommends "$package" && return 0
        fi
    done
    return 1
}

echo "$missing: installing it with apt-get" >&2
said=$(mktemp)
trap 'rm -f "$said"' EXIT
if ! install_first "$@" >"$said" 2>&1; then
    cat "$said" >&2
    exit 1
fi
