#!/usr/bin/env bash
# Builds the page into `web/dist`: open its index.html, from disk or from any web server.
set -euo pipefail
cd "$(dirname "$0")"
target=wasm32-unknown-unknown
export CARGO_TARGET_DIR=$PWD/target
# 128-bit vectors are in every browser since 2023.
export CARGO_ENCODED_RUSTFLAGS=$'-C\x1ftarget-feature=+simd128,+bulk-memory\x1f-C\x1flink-arg=-zstack-size=1048576'
if [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
    cargo build --locked --release --target $target
else
    ../contrib/cross.sh $target build --locked --release --manifest-path web/Cargo.toml
fi
mkdir -p dist
cp "target/$target/release/bloscpack_web.wasm" dist/engine.wasm
if command -v wasm-opt > /dev/null; then
    wasm-opt -O2 --enable-simd --enable-bulk-memory --enable-sign-ext --enable-mutable-globals --enable-nontrapping-float-to-int \
        dist/engine.wasm -o dist/engine.wasm
fi
# Pages that are opened from disk may not fetch: the module and the worker are part of a script.
python3 - << 'PYTHON'
import base64, gzip, json, pathlib
page, dist = pathlib.Path("page"), pathlib.Path("dist")
module = gzip.compress((dist / "engine.wasm").read_bytes(), 9, mtime=0)
parts = {"module": base64.b64encode(module).decode(), "worker": (page / "worker.js").read_text()}
(dist / "engine.js").write_text(f"const ENGINE = {json.dumps(parts)};\n")
scripts = [(page / name).read_text() for name in ("calls.js", "drop.js", "table.js", "draw.js", "page.js", "views.js", "pictures.js", "export.js")]
(dist / "page.js").write_text("".join(scripts))
for name in ("index.html", "page.css"):
    (dist / name).write_text((page / name).read_text())
print(f"web/dist: the module takes {len(module):,} bytes compressed")
PYTHON
