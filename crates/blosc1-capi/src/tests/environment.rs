//! Environment variables mean what they mean to C-Blosc. Each case runs in a process of its own.

use std::os::raw::c_int;
use std::process::Command;

use testkit::oracle::{Kind, Random};

/// The name of this test, and the variable that makes its process a child.
const TEST: &str = "tests::environment::variables_mean_the_same";
const CHILD: &str = "BLOSC1_TEST_CHILD";

#[test]
fn variables_mean_the_same() {
    if std::env::var_os(CHILD).is_some() {
        return compare();
    }
    let cases = [
        "BLOSC_CLEVEL=9",
        "BLOSC_CLEVEL=0",
        "BLOSC_CLEVEL=-3",
        "BLOSC_CLEVEL=10",
        "BLOSC_CLEVEL= +3x",
        "BLOSC_CLEVEL=x",
        "BLOSC_CLEVEL=4294967297",
        "BLOSC_SHUFFLE=NOSHUFFLE",
        "BLOSC_SHUFFLE=SHUFFLE",
        "BLOSC_SHUFFLE=BITSHUFFLE",
        "BLOSC_SHUFFLE=bitshuffle",
        "BLOSC_TYPESIZE=2",
        "BLOSC_TYPESIZE=22",
        "BLOSC_TYPESIZE=0",
        "BLOSC_COMPRESSOR=zstd",
        "BLOSC_COMPRESSOR=ZSTD",
        "BLOSC_BLOCKSIZE=4096",
        "BLOSC_BLOCKSIZE=22",
        "BLOSC_BLOCKSIZE=-4096",
        "BLOSC_NTHREADS=2",
        "BLOSC_NTHREADS=22",
        "BLOSC_NTHREADS=0",
        "BLOSC_NTHREADS=300",
        "BLOSC_SPLITMODE=NEVER",
        "BLOSC_SPLITMODE=ALWAYS",
        "BLOSC_SPLITMODE=AUTO",
        "BLOSC_SPLITMODE=FORWARD_COMPAT",
        "BLOSC_SPLITMODE=SOMETIMES",
        "BLOSC_NOLOCK=1",
        "BLOSC_NOLOCK=1 BLOSC_COMPRESSOR=lz4 BLOSC_NTHREADS=2",
        "BLOSC_WARN=1",
    ];
    for case in cases {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child
            .args([TEST, "--exact", "--test-threads=1"])
            .env(CHILD, "1");
        match case.split_once(" BLOSC") {
            Some((first, rest)) => {
                let rest = format!("BLOSC{rest}");
                child.envs(
                    [first]
                        .into_iter()
                        .chain(rest.split(' '))
                        .filter_map(|v| v.split_once('=')),
                );
            }
            None => {
                child.envs(case.split_once('='));
            }
        }
        let output = child.output().unwrap();
        assert!(
            output.status.success(),
            "{case}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("1 passed"), "{case}: {said}");
    }
}

/// Compresses by both libraries, without arguments of its own, and compares header and settings.
fn compare() {
    let data = Kind::Ramp.data(&mut Random::new(64), 300_000);
    let mut chunks = [vec![0_u8; 300_016], vec![0_u8; 300_016]];
    let [ours, theirs] = &mut chunks;
    let (src, room) = (data.as_ptr().cast(), ours.len());
    // SAFETY: all pointers are valid for the lengths given with them.
    let lens = unsafe {
        [
            crate::compress::blosc_compress(5, 1, 8, 300_000, src, ours.as_mut_ptr().cast(), room),
            blosc_src::blosc_compress(5, 1, 8, 300_000, src, theirs.as_mut_ptr().cast(), room),
        ]
    };
    assert_eq!(lens[0].min(0), lens[1].min(0), "{lens:?}");
    // SAFETY: these return numbers.
    let theirs = unsafe {
        (
            blosc_src::blosc_get_nthreads(),
            blosc_src::blosc_get_blocksize(),
        )
    };
    assert_eq!(
        (crate::global::threads(), crate::global::blocksize()),
        theirs
    );
    if lens[0] <= 0 {
        return;
    }
    assert_eq!(chunks[0][..12], chunks[1][..12]);
    for chunk in &chunks {
        let mut back = vec![0; data.len()];
        // SAFETY: the chunk is whole, and `back` valid for the length given.
        let len = unsafe {
            let back = back.as_mut_ptr().cast();
            crate::decompress::blosc_decompress(chunk.as_ptr().cast(), back, data.len())
        };
        assert_eq!(len, data.len() as c_int);
        assert!(back == data);
    }
}
