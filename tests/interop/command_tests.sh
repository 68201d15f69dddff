#!/usr/bin/env bash
# Runs the console sessions by which Bloscpack tests its command, with ours in its place, and compares which of them pass with
# docs/from-bloscpack.md. They are in no package, so a clone of github.com/Blosc/bloscpack must be there.
# usage: tests/interop/command_tests.sh CLONE [PATH-OF-BLPK]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
clone=$1 blpk=$(realpath "${2:-$root/target/release/blpk}")
venv=$root/target/interop/venv-cram
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [[ ! -x $venv/bin/cram ]]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check cram==0.7 bloscpack==0.16.0 blosc==1.11.4 numpy==2.2.6
fi
cp -r "$clone/test_cmdline" "$work"
# The tests find modules and the command in the folder above theirs.
cp "$here/site/sitecustomize.py" "$work"
ln -s "$blpk" "$work/blpk"
cd "$work"
PATH=$venv/bin:$PATH cram test_cmdline/*.cram > "$work/log" 2>&1 || true
tail -n 1 "$work/log"
passed=$(for test in test_cmdline/*.cram; do [[ -e $test.err ]] || basename "$test" .cram; done)
wanted=$'test_blosc_codec\ntest_template\ntest_zero_length_file'
if [[ $passed != "$wanted" ]]; then
    cat "$work/log"
    echo "command_tests.sh: other tests pass than docs/from-bloscpack.md says" >&2
    exit 1
fi
