# What the parts share. They run at the root of the repository.

# step WORDS...: says what comes next
step() { printf '\n== %s\n' "$*"; }

# needs COMMAND [PACKAGE]: installs the command where it is missing, with Debian's tools, or says so
needs() {
    command -v "$1" > /dev/null && return
    if command -v apt-get > /dev/null; then
        apt-get update -qq > /dev/null || true
        apt-get install --yes --no-install-recommends "${2:-$1}" > /dev/null || true
    fi
    if ! command -v "$1" > /dev/null; then
        echo "$1 is missing and could not be installed" >&2
        exit 1
    fi
}

# component NAME: adds a part of the toolchain that minimal installations leave out
component() {
    cargo "$1" --version > /dev/null 2>&1 || rustup component add "$2"
}

# without REGEX REASON ARGUMENTS OF cargo tree...: fails where a dependency matches
without() {
    local names=$1 reason=$2 found
    shift 2
    found=$(cargo tree --locked --prefix none "$@" | sed 's/ .*//' | sort -u | grep -E "^($names)$" || true)
    if [ -n "$found" ]; then
        printf '%s:\n%s\n' "$reason" "$found" >&2
        exit 1
    fi
}

# All features but C-Blosc2, which needs cmake.
features=blpk/arrow,blpk/remote,bloscpack-open/ndarray,bloscpack-open/npz,bloscpack/futures-io,bloscpack/mmap,bloscpack/serde
features+=,bloscpack/tokio

# The whole workspace with all features. The parts that need tests, the command or examples select this, in the profile of the
# tests, even where they only run some of it: Cargo compiles a crate again for each other set of packages and features.
everything=(--locked --workspace --features "$features")

# Builds target/debug/blpk and target/debug/examples, unless the part `tests` already has
build_command() {
    cargo build --profile test "${everything[@]}" --bins --examples
}

# Unpacks the files that real tools wrote, where the archives are at hand.
corpus() {
    local archives=${BLOSCPACK_CORPUS_ARCHIVES:-../shared/corpus} part
    mkdir -p target/corpus
    for part in bloscpack bcolz bcolz-legacy blz carray05 caterva b2nd; do
        if [ -f "$archives/$part.tar.xz" ] && [ ! -f "target/corpus/$part/manifest.json" ]; then
            tar xJf "$archives/$part.tar.xz" -C target/corpus
        fi
    done
}

# The members of the workspace that users can build: all but the kit for the tests.
members() {
    cargo metadata --locked --format-version 1 --no-deps |
        python3 -c 'import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] != []:
        print(package["name"])'
}
