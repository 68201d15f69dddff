//! What the fuzz targets assert, for every input that is kept: the corpus, and all that was ever found.
//!
//! Each target of `fuzz/` has its property in `fuzz/properties/`; here the same code runs without a fuzzer, over the files
//! of `fuzz/corpus/TARGET/` and `fuzz/findings/TARGET/`. `fuzz/README.md` says where these come from.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a property fails by panicking, and cuts what is made up as it likes"
)]
#![allow(unsafe_code, reason = "C-Blosc is asked, too")]
#![allow(
    clippy::duplicate_mod,
    reason = "each property brings along what it needs"
)]

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// The targets: a module, a name and a test of each.
macro_rules! targets {
    ($($(#[$when:meta])? $name:ident,)*) => {
        #[path = "../fuzz/properties"]
        mod properties {
            $($(#[$when])? pub mod $name;)*
        }

        const TARGETS: &[&str] = &[$(stringify!($name)),*];

        $(
            $(#[$when])?
            #[test]
            fn $name() {
                replay(stringify!($name), properties::$name::check);
            }
        )*
    };
}

targets! {
    any_journal,
    any_place_is_as_in_order,
    append_patch_crash_reopen,
    blosc2_chunk,
    #[cfg(feature = "blosc2-rs")]
    blosc2_chunk_differential,
    // C-Blosc and C-Blosc2 have functions of the same names.
    #[cfg(not(feature = "blosc2-rs"))]
    blosc_chunk_differential,
    changed_file,
    dataset_dir,
    dataset_ops,
    dataset_wire,
    frame,
    frame_ops,
    frame_wire,
    header_and_metadata,
    import,
    offsets,
    packed_records,
    pieces_do_not_matter,
    record_round_trip,
    records,
    recover,
    round_trip,
    stream_decoder,
}

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

/// What lies in a folder, sorted; nothing where there is none.
fn entries(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// Runs all inputs that are kept for a target, and tells each that fails.
fn replay(target: &str, check: fn(&[u8])) {
    let corpus = entries(&fuzz().join("corpus").join(target));
    assert!(!corpus.is_empty(), "{target} has no corpus");
    let findings = entries(&fuzz().join("findings").join(target));
    let failed: Vec<_> = corpus
        .into_iter()
        .chain(findings)
        .filter(|path| {
            let input = std::fs::read(path).unwrap();
            catch_unwind(AssertUnwindSafe(|| check(&input))).is_err()
        })
        .collect();
    assert!(failed.is_empty(), "{target} fails for {failed:#?}");
}

/// The names of the programs in `fuzz/Cargo.toml`.
fn programs() -> Vec<String> {
    let manifest = std::fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let programs = manifest.split("[[bin]]").skip(1);
    let name = |program: &str| {
        let mut lines = program.lines();
        let name = lines.find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        name.unwrap().to_owned()
    };
    programs.map(name).collect()
}

#[test]
fn every_target_is_replayed() {
    let targets: BTreeSet<_> = TARGETS.iter().map(|&target| target.to_owned()).collect();
    let programs = programs();
    assert_eq!(programs.len(), targets.len());
    assert_eq!(programs.into_iter().collect::<BTreeSet<_>>(), targets);
    for folder in ["fuzz_targets", "properties"] {
        let files = entries(&fuzz().join(folder)).into_iter();
        let files = files.filter(|path| path.is_file());
        let names: BTreeSet<_> = files.map(|path| stem(&path)).collect();
        assert_eq!(names, targets, "{folder}");
    }
}

#[test]
fn nothing_is_kept_for_what_is_no_target() {
    for folder in ["corpus", "findings"] {
        for path in entries(&fuzz().join(folder)) {
            let is_of_target = path.is_dir() && TARGETS.contains(&stem(&path).as_str());
            assert!(is_of_target, "{} is of no target", path.display());
            assert!(entries(&path).iter().all(|path| path.is_file()));
        }
    }
}

/// As `fuzz/README.md` says of it: small enough to be copied with the sources.
#[test]
fn the_corpus_is_small() {
    let folders = entries(&fuzz().join("corpus"));
    let files = folders.iter().flat_map(|folder| entries(folder));
    let bytes: u64 = files.map(|path| path.metadata().unwrap().len()).sum();
    assert!(bytes <= 2 << 20, "{bytes} bytes");
}
