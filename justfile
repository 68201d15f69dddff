# The commands of this project; `just` lists them.

_list:
    @just --list

# All that CI runs, or some of its parts: `just check fast`.
check *parts:
    .ci/run {{parts}}

# The tests; the last lines say how many had nothing to work on. `just test -p blosc1`: those of one crate.
test *options:
    tests/run.sh {{options}}

# The tests, with the long searches in full.
test-whole *options:
    BLOSCPACK_TESTS=whole tests/run.sh {{options}}

# All benchmarks, with their tables in the pages: hours. `--only NAME`, `--quick`, `--python FILE` for each interpreter with peers.
bench-all *options:
    benches/all.py {{options}}

# Compare the instruction counts of the hot paths with benches/guard.json; needs valgrind. `--update` rewrites the file.
bench-guard *args:
    cargo build --locked --release --bench guard
    benches/guard.py {{args}} "$(ls -t target/release/deps/guard-* | grep -v '\.d$' | head -n 1)"

# The real Bloscpack, bcolz, Caterva and python-blosc2 read what we write, and we what they write.
interop:
    .ci/run interop

# What readers make of damaged files: our containers beside those of others, as a table. `--quick`: ours alone.
damage *options:
    cargo build --release --locked -p blpk
    tests/damage.py {{options}}

# One process that works for so many seconds, and must not grow.
soak seconds="60":
    MALLOC_ARENA_MAX=1 BLOSCPACK_SOAK_SECONDS={{seconds}} cargo test --locked --release -p bloscpack --test soak -- --nocapture

# Every verb that writes, killed and failing at system calls; `--all`: at each of them.
kill *options:
    cargo build --release --locked -p blpk
    tests/kill.py {{options}} target/release/blpk

# Fuzz one target for some seconds: `just fuzz stream_decoder 600`.
fuzz target seconds="60":
    fuzz/run.sh {{seconds}} {{target}}

# What several threads run, in every order in which they may meet (loom), or in very many (shuttle): `just schedules shuttle`.
schedules *args:
    tests/schedules.sh {{args}}

# Known bugs, planted one at a time, each of which a test has to catch. Takes an hour.
planted *names:
    tests/planted.py {{names}}

# The tests under AddressSanitizer, and the SIMD filters under valgrind.
sanitizers *args:
    tests/sanitizers.sh {{args}}

# Which lines of the library the tests reach, by file; needs cargo-tarpaulin. Takes an hour.
coverage *options:
    BLOSCPACK_TESTS=whole BLOSCPACK_SLOWDOWN=20 cargo tarpaulin --engine llvm --locked --skip-clean --target-dir target/coverage --include-files 'src/*' 'crates/*/src/*' \
        --exclude-files 'crates/blpk/*' 'crates/testkit/*' --timeout 900 --out Json --output-dir target/coverage {{options}}

# How large and how tangled the code is, as a table; `--build` also measures builds, `--check` fails on cycles and upward imports.
house *args:
    contrib/house.py {{args}}

# Two builds of the command beside each other: the same bytes, statuses and JSON, and which texts changed. `--quick`: some.
side-by-side old new *args:
    contrib/side_by_side.py {{args}} {{old}} {{new}}

# All that takes long, before a release: about a day, of which the fuzz targets have an hour each.
long: sanitizers planted coverage schedules (damage "") (kill "--all") (soak "21600")
    BLOSCPACK_TESTS=whole BLOSCPACK_MODEL_CASES=100000 cargo test --locked --release -p bloscpack-frames -p bloscpack-datasets model
    fuzz/run.sh 3600

# The wheel of the Python module, in target/wheels, checked by auditwheel and twine. `just wheel plain`: without zig.
wheel *how:
    contrib/wheels.sh {{how}}

# Threads of Python that share objects for 60 seconds, and 100,000 opens; PYTHON is an interpreter with the module.
soak-python python="python3":
    {{python}} -P python/tests/soak.py

# A Debian package in target/release-files; needs cargo-deb.
debian:
    contrib/debian.sh

# The command with its manual pages and completions, as an archive in target/release-files.
archive target="":
    contrib/archive.sh {{target}}

# The pictures of the documentation.
pictures:
    contrib/pictures.py

# The documentation, opened in a browser.
doc:
    cargo doc --no-deps --open
