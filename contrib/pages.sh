#!/bin/sh
# Writes the manual pages and the completions of a command into a folder: contrib/pages.sh COMMAND FOLDER
set -eu
mkdir -p "$2/man" "$2/completions"
# Wide enough for a line to each command.
export COLUMNS=100
# The commands on a page of the help.
commands() { sed -n '/^Options:/q; s/^  \([a-z][a-z-]*\) .*/\1/p' | grep -vx help; }
"$1" man > "$2/man/blpk.1"
for name in $("$1" --help | commands); do
    "$1" man "$name" > "$2/man/blpk-$name.1"
    case $name in records | dataset)
        for inner in $("$1" "$name" --help | commands); do
            "$1" man "$name" "$inner" > "$2/man/blpk-$name-$inner.1"
        done
    esac
done
"$1" completions bash > "$2/completions/blpk"
"$1" completions zsh > "$2/completions/_blpk"
"$1" completions fish > "$2/completions/blpk.fish"
