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

# The chunk engine against C-Blosc, in one process.
bench:
    cargo bench --bench chunk

# Whole commands against python-bloscpack, python-blosc2, zstd, lz4, pigz and cp. Takes about two hours; see `--help`.
bench-commands *options:
    cargo build --release --locked --package blpk
    benches/commands.py {{options}}

# How the cost of the command grows with the work: bytes, chunks, records, memory. `--quick` is a small version.
bench-scaling *options:
    cargo build --release --locked --package blpk
    benches/scaling.py {{options}}

# The chunk engine against C-Blosc2, with Blosc 2 chunks; needs cmake.
bench2:
    cargo bench --features blosc2-rs --bench chunk2

# Chunks of C-Blosc, read by our engine and by other crates: which are right, and how fast.
bench-engines:
    cargo build --locked --release --manifest-path benches/engines/Cargo.toml
    benches/engines/target/release/bloscpack-engines make target/engines.bin
    benches/engines/target/release/bloscpack-engines read target/engines.bin

# Compare the instruction counts of the hot paths with benches/guard.json; needs valgrind. `--update` rewrites the file.
bench-guard *args:
    cargo build --locked --release --bench guard
    benches/guard.py {{args}} "$(ls -t target/release/deps/guard-* | grep -v '\.d$' | head -n 1)"

# Records against Parquet, SQLite and zstd, in one run. Takes an hour with all settings.
bench-records data="target/records-data":
    benches/records/data.sh {{data}}
    cargo run --release --manifest-path benches/records/Cargo.toml -- bench {{data}}

# Datasets against bcolz-zipline, in one run; PYTHON is an interpreter with bcolz-zipline and numpy. Takes 15 minutes.
bench-datasets python rounds="3":
    cargo build --release --bench datasets
    benches/datasets.py "$(ls -t target/release/deps/datasets-* | grep -v '\.d$' | head -n 1)" {{python}} {{rounds}}

# Arrays against python-blosc2 and caterva, in one run; each PYTHON is an interpreter with the peer and numpy. Takes some minutes.
bench-arrays python_blosc2 python_caterva="-" rounds="5":
    cargo build --release --bench arrays
    benches/arrays.py "$(ls -t target/release/deps/arrays-* | grep -v '\.d$' | head -n 1)" {{python_blosc2}} {{python_caterva}} {{rounds}}

# TPC-H as ctables beside Parquet, in the same engine. `--rounds N`, `--threads N`.
bench-sql scale="1" *options:
    cargo build --locked --release --manifest-path sql/Cargo.toml -p bloscpack-tpch
    sql/target/release/bloscpack-tpch make --scale {{scale}} target/tpch
    sql/target/release/bloscpack-tpch bench {{options}} target/tpch

# The same beside DuckDB, bcolz and python-blosc2, after `just bench-sql`; PYTHON is an interpreter with them, numexpr and pyarrow.
bench-sql-peers python rounds="5":
    {{python}} benches/sql.py sql/target/release/bloscpack-tpch target/tpch {{rounds}}

# A table of python-blosc2 with 24 million rows, beside python-blosc2; PYTHON is an interpreter with blosc2.
bench-ctable python rounds="5":
    cargo build --locked --release --manifest-path sql/Cargo.toml -p blpk-sql
    {{python}} benches/ctable.py sql/target/release/blpk-sql {{rounds}}

# Slices of an array behind a slow web server, against python-blosc2 and Zarr; PYTHON is an interpreter with blosc2, zarr, fsspec
# and aiohttp.
bench-remote python rounds="5":
    cargo build --release -p bloscpack-remote --example remote_slices
    benches/remote.py target/release/examples/remote_slices {{python}} {{rounds}}

# The Python module against Bloscpack, bcolz-zipline, python-blosc2 and numcodecs, in one run. Takes half an hour.
bench-python rounds="5": wheel
    benches/python.py target/wheels/*.whl {{rounds}}

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
