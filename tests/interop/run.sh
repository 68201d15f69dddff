#!/usr/bin/env bash
# Compares the command with the real Bloscpack 0.16 and C-Blosc 1.21, datasets with bcolz, chunks of Blosc 2 with C-Blosc2,
# and arrays with Caterva and python-blosc2.
# usage: tests/interop/run.sh [PATH-OF-BLPK] [PART...]
#   PATH-OF-BLPK   default: target/release/blpk
#   PART           written read pipes append habits recovered records datasets arrays exchange plugins chunks2 stores store_turns zarr
#                  zarr_turns matrix doors
#                  (default: all)
# The parts `datasets`, `arrays` and `chunks2` need the examples `dataset_driver`, `array_driver` and `chunk_driver` in the folder
# `examples/` next to the command; the part `exchange` needs a command built with the feature `arrow`. The part `doors` needs the
# example `serve` there, and a command with the feature `remote`; it tries BLPK_SQL (blpk-sql) and BLPK_PYTHON (an interpreter with the
# module) instead of the command where these are set.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
blpk=${1:-$root/target/release/blpk}
venv=$root/target/interop/venv

if [[ ! -x $blpk ]]; then
    echo "run.sh: no command at '$blpk' (cargo build --release)" >&2
    exit 2
fi

# environment PYTHON VENV REQUIREMENTS: creates the environment, again if the requirements have changed
environment() {
    cmp -s "$3" "$2/requirements.installed" && return
    rm -rf "$2"
    "$1" -m venv "$2"
    "$2/bin/python" -m pip install --quiet --disable-pip-version-check --use-pep517 --requirement "$3"
    cp "$3" "$2/requirements.installed"
}

environment python3 "$venv" "$here/requirements.txt"

# Caterva has wheels for few versions of Python only; any that is installed will do.
if [[ $# -lt 2 || " ${*:2} " == *" arrays "* || " ${*:2} " == *" matrix "* ]]; then
    for python in python3 python3.11 python3.10 python3.9 python3.8; do
        if "$python" -c 'import sys; sys.exit(not (3, 8) <= sys.version_info < (3, 12))' 2> /dev/null; then
            environment "$python" "$venv-caterva" "$here/requirements-caterva.txt"
            export BLPK_CATERVA=$venv-caterva/bin/python
            break
        fi
    done
fi

# Version 2 and 3 of Zarr have the same name.
if [[ $# -lt 2 || " ${*:2} " == *" zarr"* || " ${*:2} " =~ " "(matrix|doors)" " ]]; then
    for version in 2 3; do
        environment python3 "$venv-zarr$version" "$here/requirements-zarr$version.txt"
        export "BLPK_ZARR$version=$venv-zarr$version/bin/python"
    done
    # The newest needs a newer Python than bcolz has wheels for.
    if python=$("$here/newer_python.sh"); then
        environment "$python" "$venv-zarr34" "$here/requirements-zarr34.txt"
        export BLPK_ZARR34=$venv-zarr34/bin/python
    fi
fi

# First on the path: some systems have a sitecustomize of their own, which
# would hide one in the environment's site-packages.
export PYTHONPATH=$here/site
export PYTHONDONTWRITEBYTECODE=1
exec "$venv/bin/python" "$here/interop.py" --blpk "$blpk" \
    --reference "$venv/bin/blpk" "${@:2}"
