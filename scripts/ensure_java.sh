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

if find_java; then exit 0; fi
install="$(dirname "$0")/apt_install.sh"
if "$install" "no Java $oldest or later was found" openjdk-17-jre-headless openjdk-21-jre-headless \
    openjdk-25-jre-headless && find_java; then exit 0; fi
echo "Spark needs Java $oldest or later and none was found: install one, or point JAVA_HOME at it" >&2
exit 1
