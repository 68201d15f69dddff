#!/usr/bin/env bash
# Builds and runs C-Blosc's own test programs, and the tests of python-blosc, with the library of `crates/blosc1-capi` in place
# of theirs. Their sources come from the source package of python-blosc on PyPI, which contains those of C-Blosc.
# usage: tests/capi/run.sh [PART...]
#   PART   c python (default: both)
# COMPAT=DIRECTORY: also reads the files compat/*.cdata of C-Blosc's repository, which the package lacks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ $# -gt 0 ] || set -- c python

blosc=1.11.4
work=$PWD/target/capi
prefix=$work/prefix
sources=$work/blosc-$blosc
mkdir -p "$work"
crates/blosc1-capi/install.sh "$prefix"
export LD_LIBRARY_PATH=$prefix/lib PKG_CONFIG_PATH=$prefix/lib/pkgconfig

if [ ! -x "$work/venv/bin/python" ]; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check numpy psutil
fi
if [ ! -d "$sources" ]; then
    "$work/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary blosc \
        --dest "$work" "blosc==$blosc"
    tar xzf "$work/blosc-$blosc.tar.gz" -C "$work"
fi

# The programs include ../blosc/blosc.h, which here is our header.
build() {
    local out=$1
    shift
    cc -O1 -w -DBLOSC_TESTING "$@" -o "$out" -L"$prefix/lib" -lblosc -lm -lpthread
}

c_programs() {
    local tests=$work/c/tests failed=0 count=0 name size elements level shuffle
    rm -rf "$work/c"
    mkdir -p "$tests" "$work/c/blosc"
    cp "$sources"/blosc/c-blosc/tests/*.[ch] "$tests"
    cp "$prefix/include/blosc.h" "$work/c/blosc/blosc.h"
    for name in api bitshuffle_leftovers compressor forksafe maxout noinit nolock nthreads getitem; do
        build "$tests/$name" "$tests/test_$name.c"
    done
    build "$tests/print_versions" "$tests/print_versions.c"
    for name in api bitshuffle_leftovers compressor forksafe maxout noinit nolock nthreads; do
        count=$((count + 1))
        (cd "$tests" && "./$name" > "$name.log" 2>&1) || { failed=$((failed + 1)); tail -n 5 "$tests/$name.log"; }
        # This one says in numbers how it went.
        [ "$name" = bitshuffle_leftovers ] || grep -q "ALL TESTS PASSED" "$tests/$name.log" || failed=$((failed + 1))
    done
    # This one includes headers of C-Blosc's shuffle, but calls nothing of it.
    cp "$sources"/blosc/c-blosc/blosc/{shuffle,shuffle-generic,blosc-common,blosc-export}.h "$work/c/blosc/"
    build "$tests/compress_roundtrip" "$tests/test_compress_roundtrip.c"
    for size in 1 2 3 4 5 6 7 8 11 16 22 30 32 42 48 52 53 64 80; do
        for elements in 7 192 500 1792 8000 100000 702713; do
            for shuffle in 0 1 2; do
                count=$((count + 1))
                "$tests/getitem" $size $elements 32 5 $shuffle 1 || failed=$((failed + 1))
            done
            for shuffle in 0 1; do
                count=$((count + 1))
                "$tests/compress_roundtrip" $size $elements 32 5 $shuffle 1 || failed=$((failed + 1))
            done
        done
    done
    count=$((count + 1))
    "$tests/compress_roundtrip" 1 0 32 0 0 1 || failed=$((failed + 1))
    "$tests/print_versions"
    if [ -n "${COMPAT:-}" ]; then
        build "$tests/filegen" -I"$work/c/blosc" -include "$prefix/include/blosc.h" "$COMPAT/filegen.c"
        for name in "$COMPAT"/*.cdata; do
            count=$((count + 1))
            "$tests/filegen" decompress "$name" > "$tests/filegen.log" 2>&1 || { failed=$((failed + 1)); echo "$name" >&2; }
        done
    fi
    # No names but those of the interface may be visible.
    python3 "$sources/blosc/c-blosc/tests/check_symbols.py" "$prefix/lib/libblosc.so" || failed=$((failed + 1))
    # The static library, too, and through pkg-config.
    cc -O1 -w -DBLOSC_TESTING "$tests/test_api.c" -o "$tests/api_static" "$prefix/lib/libblosc.a" \
        $(sed -n 's/^Libs.private: //p' "$prefix/lib/pkgconfig/blosc.pc")
    count=$((count + 1))
    "$tests/api_static" > "$tests/api_static.log" 2>&1 || failed=$((failed + 1))
    echo "C-Blosc's programs: $count runs, $failed failed"
    [ $failed -eq 0 ]
}

python_blosc() {
    local python=$work/venv-python-blosc/bin/python
    if [ ! -x "$python" ]; then
        python3 -m venv "$work/venv-python-blosc"
        # `Blosc_DIR` leads cmake to the library; the package is built from the sources that are here.
        SKBUILD_CONFIGURE_OPTIONS="-DUSE_SYSTEM_BLOSC=ON" USE_SYSTEM_BLOSC=1 BLOSC_DIR=$prefix \
            CMAKE_PREFIX_PATH=$prefix CMAKE_POLICY_VERSION_MINIMUM=3.5 \
            "$python" -m pip install --quiet --disable-pip-version-check numpy psutil "$work/blosc-$blosc.tar.gz"
    fi
    local module
    module=$("$python" -c 'import blosc.blosc_extension as extension; print(extension.__file__)')
    ldd "$module" | grep "libblosc.so.1 => $prefix"
    "$python" -c 'import blosc; blosc.test()'
}

for part; do
    case $part in
    c) c_programs ;;
    python) python_blosc ;;
    *)
        echo "$0: no part '$part' (parts: c python)" >&2
        exit 2
        ;;
    esac
done
