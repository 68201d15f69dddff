#!/usr/bin/env bash
# Builds the C library and installs it where programs that use C-Blosc 1 look for theirs.
# usage: crates/blosc1-capi/install.sh PREFIX
#   PREFIX/include/blosc.h, PREFIX/lib/libblosc.{so,so.1,so.1.21.6,a}, PREFIX/lib/pkgconfig/blosc.pc
set -euo pipefail
prefix=${1:?usage: install.sh PREFIX}
cd "$(dirname "${BASH_SOURCE[0]}")"
cargo build --locked --release -p blosc1-capi
folder=$(cargo metadata --locked --format-version 1 --no-deps |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/release
install -d "$prefix/include" "$prefix/lib/pkgconfig"
prefix=$(cd "$prefix" && pwd)
install -m 644 include/blosc.h "$prefix/include/blosc.h"
install -m 755 "$folder/libblosc1.so" "$prefix/lib/libblosc.so.1.21.6"
ln -sf libblosc.so.1.21.6 "$prefix/lib/libblosc.so.1"
ln -sf libblosc.so.1 "$prefix/lib/libblosc.so"
install -m 644 "$folder/libblosc1.a" "$prefix/lib/libblosc.a"
cat > "$prefix/lib/pkgconfig/blosc.pc" << END
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: blosc
Description: The interface of C-Blosc 1.21 over the Rust crate blosc1
Version: 1.21.6
Libs: -L\${libdir} -lblosc
Libs.private: -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
Cflags: -I\${includedir}
END
