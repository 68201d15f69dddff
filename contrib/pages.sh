#!/bin/sh
# Writes the manual pages and the completions of a command into a folder: contrib/pages.sh COMMAND FOLDER
set -eu
mkdir -p "$2/man" "$2/completions"
"$1" man > "$2/man/blpk.1"
for name in $("$1" --help | sed -n '/^Options:/q; s/^  \([a-z]\{2,\}\) .*/\1/p'); do
    [ "$name" = help ] || "$1" man "$name" > "$2/man/blpk-$name.1"
done
"$1" completions bash > "$2/completions/blpk"
"$1" completions zsh > "$2/completions/_blpk"
"$1" completions fish > "$2/completions/blpk.fish"
