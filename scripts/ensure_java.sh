#!/bin/sh
# Prints the home of a Java that Spark can run on (17 or later), and installs one where it may.
#
# Looked for in this order: JAVA_HOME, the PATH, the folders where systems keep their Javas. Words
# go to stderr, so that `JAVA_HOME=$(scripts/ensure_java.sh)` gets the path alone.
set -eu

oldest=17

major_version() {
    "$1/bin/java" -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1
}

accept() {
    [ -x "$1/bin/java" ] || return 1
    version=$(major_version "$1")
    [ -n "$version" ] && [ "$version" -ge "$oldest" ] || return 1
    echo "$1"
}

find_java() {
    if [ -n "${JAVA_HOME:-}" ] && accept "$JAVA_HOME"; then return 0; fi
    if on_path=$(command -v java); then
        real=$(readlink -f "$on_path" 2>/dev/null || echo "$on_path")
        if accept "$(dirname "$(dirname "$real")")"; then return 0; fi
    fi
    for home in /usr/lib/jvm/* /usr/java/* /opt/java/* \
        /Library/Java/JavaVirtualMachines/*/Contents/Home; do
        if accept "$home"; then return 0; fi
    done
    return 1
}

install_java() {
    command -v apt-get >/dev/null 2>&1 || return 1
    if [ "$(id -u)" = 0 ]; then as_root=; else
        command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null || return 1
        as_root="sudo -n"
    fi
    echo "no Java $oldest or later was found: installing one with apt-get" >&2
    said=$(mktemp)
    if apt_install "$said"; then rm -f "$said"; return 0; fi
    cat "$said" >&2
    rm -f "$said"
    return 1
}

# apt-get is talkative: what it says goes to a file, and matters only if it fails.
apt_install() {
    $as_root apt-get update -qq >"$1" 2>&1 || return 1
    for release in 17 21 25; do
        package="openjdk-$release-jre-headless"
        if apt-cache show "$package" >/dev/null 2>&1; then
            $as_root env DEBIAN_FRONTEND=noninteractive \
                apt-get install -y -qq --no-install-recommends "$package" >>"$1" 2>&1 && return 0
        fi
    done
    return 1
}

if find_java; then exit 0; fi
if install_java && find_java; then exit 0; fi
echo "Spark needs Java $oldest or later and none was found: install one, or point JAVA_HOME at it" >&2
exit 1
