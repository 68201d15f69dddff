#!/usr/bin/env bash
# Checks the command against the real Bloscpack 0.16 and C-Blosc 1.21, datasets against bcolz, and
# chunks of Blosc 2 against C-Blosc2.
# usage: tests/interop/run.sh [PATH-OF-BLPK] [PART...]
#   PATH-OF-BLPK   default: target/release/blpk
#   PART           written read pipes append habits recovered records datasets exchange
#                  chunks2
#                  (default: all)
# The parts `datasets` and `chunks2` need the examples `dataset_driver` and `chunk_driver` beside the
# command, in `examples/`;
# the part `exchange` needs a command that was built with the feature `arrow`.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
blpk=${1:-$root/target/release/blpk}
venv=$root/target/interop/venv
stamp=$venv/requirements.installed

if [[ ! -x $blpk ]]; then
    echo "run.sh: no command at '$blpk' (cargo build --release)" >&2
    exit 2
fi

if ! cmp -s "$here/requirements.txt" "$stamp"; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --use-pep517 \
        --requirement "$here/requirements.txt"
    cp "$here/requirements.txt" "$stamp"
fi

# Before everything else on the path: some systems have a sitecustomize of
# their own, which would hide one in the environment's site-packages.
export PYTHONPATH=$here/site
export PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/python" "$here/interop.py" --blpk "$blpk" \
    --reference "$venv/bin/blpk" "${@:2}"
