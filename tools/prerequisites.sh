#!/bin/sh
# Finds what LineageBridge needs of a machine. Prints the Python to use; or, on standard error, one line for each thing
# that is missing or wrong with the way to get it, and ends with 1.
set -u

missing=0

tell() {
    echo "lineage-bridge: $1" >&2
    missing=1
}

have() {
    command -v "$1" >/dev/null 2>&1
}

is_wanted_python() { # 3.10 or newer, with what a virtual environment is made of
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1
}

find_python() {
    for name in python3 python3.14 python3.13 python3.12 python3.11 python3.10 python; do
        if have "$name" && is_wanted_python "$name"; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

check_python() {
    if ! python=$(find_python); then
        found=$(python3 --version 2>&1) || found="none"
        tell "needs Python 3.10 or newer (found: $found); get it by 'apt install python3 python3-venv', 'dnf install python3.12', 'brew install python' or from python.org"
    elif ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        tell "$python cannot make virtual environments; get the missing part by 'apt install python3-venv'"
    fi
}

java_version() { # java_version JAVA: what it calls itself, like 17.0.15, or nothing
    "$1" -version 2>&1 | while IFS= read -r line; do
        case $line in
        *' version "'*)
            version=${line#*\"}
            echo "${version%%\"*}"
            break
            ;;
        esac
    done
}

check_java() { # the Java that Spark would start
    get="get 17 or 21 by 'apt install openjdk-17-jre-headless', 'dnf install java-21-openjdk-headless', 'brew install openjdk@21' or from adoptium.net, and name it in JAVA_HOME if it is not the default"
    java=${JAVA_HOME:+$JAVA_HOME/bin/}java
    if ! have "$java"; then
        tell "needs Java 17 or 21 (found: no $java); $get"
        return
    fi
    version=$(java_version "$java")
    case $version in
    17 | 17[!0-9]* | 21 | 21[!0-9]*) ;;
    *) tell "needs Java 17 or 21 (found: ${version:-no version} at $(command -v "$java")); $get" ;;
    esac
}

check_tool() { # check_tool NAME WHY
    have "$1" || tell "needs $1 ($2); get it by 'apt install $1', 'dnf install $1' or 'brew install $1'"
}

check_python
check_java
check_tool git "the tests read the list of the project's files from it"
check_tool bash "Spark's own start script is written in it"

[ "$missing" -eq 0 ] && echo "$python"
