#!/usr/bin/env bash
# Sets up a compiler and an emulator for another platform, and runs cargo for it:
#
#   contrib/cross.sh TARGET                      sets up only
#   contrib/cross.sh TARGET test -p blosc1       cargo test -p blosc1 for TARGET, run under qemu or wine
#   contrib/cross.sh TARGET env COMMAND...       another command, with the environment that cargo would have
#
# TARGET is s390x, aarch64, i686, armv7, windows, macos or wasm32, or the full name of one of them. Everything is below target/cross,
# but for the cross compilers, which are Debian's packages. No toolchain needs `rustup target add`: the standard library is
# Debian's for aarch64, and built from Debian's source of it for the others. Linux programs are linked statically, so that they need no files of their platform;
# where the kernel lets this script register qemu, they also start each other. For macOS there is `check` only, with all the C code
# compiled by Zig, which is from PyPI. Nothing runs wasm32.
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
    echo "$0: $*" >&2
    exit 2
}

[ $# -gt 0 ] || die "which target? s390x, aarch64, i686, armv7, windows, macos or wasm32"
case $1 in
    s390x*) target=s390x-unknown-linux-gnu tools=s390x-linux-gnu libc=s390x machine=s390x ;;
    aarch64 | aarch64-unknown*) target=aarch64-unknown-linux-gnu tools=aarch64-linux-gnu libc=arm64 machine=aarch64 ;;
    i686*) target=i686-unknown-linux-gnu tools=i686-linux-gnu libc=i386 machine=i386 ;;
    armv7*) target=armv7-unknown-linux-gnueabihf tools=arm-linux-gnueabihf libc=armhf machine=arm ;;
    windows | x86_64-pc*) target=x86_64-pc-windows-gnu tools=x86_64-w64-mingw32 libc= machine= ;;
    macos | aarch64-apple*) target=aarch64-apple-darwin tools= libc= machine= ;;
    wasm32*) target=wasm32-unknown-unknown tools= libc= machine= ;;
    *) die "no target '$1'" ;;
esac
shift
cross=$PWD/target/cross
root=$cross/root
library=$root/usr/lib/rustlib/src/rust/library
mkdir -p "$cross/dl"
exec 9> "$cross/lock"
flock 9

# installs PACKAGE...: those of them that are missing
installs() {
    local missing=() package
    for package; do
        dpkg-query -W -f '${Status}\n' "$package" 2> /dev/null | grep -q '^install ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
}

# The compiler that Debian keeps current for its browsers, and the source of the standard library: 130 MB, 0.8 GB unpacked.
if [ ! -f "$cross/unpacked" ]; then
    apt-get update -qq
    (cd "$cross/dl" && apt-get download -qq rustc-web cargo-web rust-web-src libstd-rust-web-dev libstd-rust-web-1.96 \
        libllvm22 libgit2-1.5 libhttp-parser2.9 libmbedcrypto7 libmbedx509-1 libmbedtls14 2> /dev/null)
    for package in "$cross"/dl/*.deb; do
        dpkg -x "$package" "$root"
        rm "$package"
    done
    touch "$cross/unpacked"
fi

# Debian has the standard library of aarch64 compiled, by the name of another architecture.
standard_library_of_arm64() {
    local had version
    had=$(dpkg --print-foreign-architectures | grep -x arm64) || dpkg --add-architecture arm64
    apt-get update -qq || true
    version=$(apt-cache policy rust-web-src | sed -n 's/^  Candidate: //p')
    (cd "$cross/dl" && apt-get download -qq "libstd-rust-web-dev:arm64=$version") 2> /dev/null || true
    [ -n "$had" ] || dpkg --remove-architecture arm64
    for package in "$cross"/dl/*_arm64.deb; do
        [ ! -f "$package" ] || dpkg -x "$package" "$root"
        rm -f "$package"
    done
}
if [ "$libc" = arm64 ] && [ ! -d "$root/usr/lib/rustlib/$target" ]; then
    standard_library_of_arm64
fi
standard_library=(-Zbuild-std=std,panic_unwind,test)
[ ! -d "$root/usr/lib/rustlib/$target" ] || standard_library=()

# random_of_wine DLL: makes the library from which each program of Rust takes random numbers. Newer versions of wine have it.
random_of_wine() {
    [ ! -f "$1" ] || return 0
    "$tools-gcc" -x c -shared -o "$1" - -ladvapi32 << 'END'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T len)
{
    const ULONG most = 1 << 28;
    for (; len > most; data += most, len -= most)
        if (!RtlGenRandom(data, most))
            return FALSE;
    return RtlGenRandom(data, (ULONG)len);
}
END
}

# compiles_for_macos: installs a compiler for C, without the options that it has other words for, and the means to pack libraries.
compiles_for_macos() {
    local zig=$cross/zig tool
    [ -d "$zig/ziglang" ] || python3 -m pip install --quiet --root-user-action ignore --target "$zig" ziglang==0.17.1
    for tool in cc c++ ar; do
        cat > "$zig/$tool" << END
#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR='$zig/cache' ZIG_LOCAL_CACHE_DIR='$zig/cache'
[ $tool != ar ] || exec '$zig/ziglang/zig' ar "\$@"
for word; do
    shift
    case \$word in --target=* | -mmacosx-version-min=*) ;; *) set -- "\$@" "\$word" ;; esac
done
exec '$zig/ziglang/zig' $tool -target aarch64-macos "\$@"
END
        chmod +x "$zig/$tool"
    done
    export "CC_${target//-/_}=$zig/cc" "CXX_${target//-/_}=$zig/c++" "AR_${target//-/_}=$zig/ar"
}

upper=$(tr a-z- A-Z_ <<< "$target")
linker=CARGO_TARGET_${upper}_LINKER
runner=CARGO_TARGET_${upper}_RUNNER
case $target in
    *-linux-*)
        installs "gcc-$tools" "g++-$tools" "libc6-dev-$libc-cross" qemu-user-static
        export "$linker=$tools-gcc" "CARGO_TARGET_${upper}_RUSTFLAGS=-C target-feature=+crt-static"
        [ "$machine" = i386 ] || export "$runner=qemu-$machine-static"
        # The build script of the Snappy that C-Blosc has in tests does not say so.
        [ "$machine" != s390x ] || export CXXFLAGS_s390x_unknown_linux_gnu=-DSNAPPY_IS_BIG_ENDIAN=1
        ;;
    *-windows-*)
        installs "gcc-mingw-w64-x86-64-posix" "g++-mingw-w64-x86-64-posix" wine64
        export "$linker=$tools-gcc" "$runner=/usr/lib/wine/wine64"
        export WINEPREFIX=$cross/wine WINEDEBUG=${WINEDEBUG:--all} WINEDLLOVERRIDES="mscoree,mshtml="
        # The tests link the Snappy of C-Blosc, which needs the DLLs of the C++ compiler.
        export WINEPATH="$(dirname "$("$tools-g++-posix" -print-file-name=libstdc++-6.dll)");/usr/$tools/lib"
        [ -d "$WINEPREFIX" ] || /usr/lib/wine/wine64 wineboot --init > /dev/null 2>&1
        random_of_wine "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll"
        # Without a running program, wine restarts its services, which takes seconds. This program runs as long as the commands below.
        exec 8> >(exec /usr/lib/wine/wine64 cmd.exe /q > /dev/null 2>&1)
        # The services keep the outputs of what started them: not those of a command whose output ends with it.
        /usr/lib/wine/wine64 cmd.exe /c exit < /dev/null > /dev/null 2>&1
        ;;
    *-apple-*) compiles_for_macos ;;
    wasm32-*)
        installs lld-22
        export "$linker=wasm-ld-22"
        standard_library=(-Zbuild-std=std,panic_abort)
        ;;
esac

# Programs of this platform that start others of it need the kernel's help.
registers() {
    local places=/proc/sys/fs/binfmt_misc line=/usr/lib/binfmt.d/qemu-$machine.conf
    [ -e "$places/register" ] || mount -t binfmt_misc binfmt_misc "$places" 2> /dev/null || return 0
    [ -e "$places/qemu-$machine" ] || [ ! -f "$line" ] || cat "$line" > "$places/register" || true
}
case $machine in '' | i386) ;; *) registers ;; esac

export LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu PATH=$root/usr/bin:$PATH RUSTC_BOOTSTRAP=1
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$cross/target}
# The command runs for less time than it takes to optimize it, but for the codecs, whose levels Cargo.toml has.
export CARGO_PROFILE_DEV_OPT_LEVEL=${CARGO_PROFILE_DEV_OPT_LEVEL:-0}
export CARGO_PROFILE_DEV_DEBUG=false CARGO_PROFILE_TEST_DEBUG=false CARGO_INCREMENTAL=0
if [ ! -f "$cross/fetched" ]; then
    (cd "$library" && "$root/usr/bin/cargo" fetch --quiet --locked)
    touch "$cross/fetched"
fi
flock -u 9

case ${1:-} in
    '') ;;
    env)
        shift
        exec "$@"
        ;;
    *)
        verb=$1
        shift
        exec "$root/usr/bin/cargo" "$verb" ${standard_library[@]+"${standard_library[@]}"} --target "$target" "$@"
        ;;
esac
