//! Checks what the fuzz targets assert, for every input that is kept: the corpus and all past findings.
//!
//! Each target of `fuzz/` has its property in `fuzz/properties/`. Here the same code runs without a fuzzer, over the
//! inputs in `fuzz/corpus/TARGET.tar.gz` and the files of `fuzz/findings/TARGET/`. `fuzz/README.md` says where these
//! come from.
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

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
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
    blosc2_plug_ins,
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

/// The entries of a folder, sorted; empty if there is no folder.
fn entries(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// The archive of a target's corpus.
fn archive(target: &str) -> PathBuf {
    fuzz().join("corpus").join(format!("{target}.tar.gz"))
}

/// The corpus of a target by name: every target has one, and it is not empty.
fn corpus(target: &str) -> BTreeMap<String, Vec<u8>> {
    let path = archive(target);
    let packed = std::fs::read(&path)
        .unwrap_or_else(|error| panic!("{target} has no corpus: {}: {error}", path.display()));
    // Unpacked in full, so that gzip's checksum is compared.
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(packed.as_slice())
        .read_to_end(&mut unpacked)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut inputs = BTreeMap::new();
    for entry in tar::Archive::new(unpacked.as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_str().unwrap().to_owned();
        assert!(entry.header().entry_type().is_file(), "{name}");
        let mut input = Vec::new();
        entry.read_to_end(&mut input).unwrap();
        let earlier = inputs.insert(name, input);
        assert!(
            earlier.is_none(),
            "{} contains a name twice",
            path.display()
        );
    }
    assert!(!inputs.is_empty(), "{} is empty", path.display());
    inputs
}

/// The findings of a target by path; most targets have none.
fn findings(target: &str) -> BTreeMap<String, Vec<u8>> {
    entries(&fuzz().join("findings").join(target))
        .into_iter()
        .map(|path| (path.display().to_string(), std::fs::read(&path).unwrap()))
        .collect()
}

/// Runs all inputs that are kept for a target, and names each that fails.
fn replay(target: &str, check: fn(&[u8])) {
    let (corpus, findings) = (corpus(target), findings(target));
    println!(
        "{target}: {} inputs of the corpus, {} findings",
        corpus.len(),
        findings.len()
    );
    let failed: Vec<_> = corpus
        .into_iter()
        .chain(findings)
        .filter(|(_, input)| catch_unwind(AssertUnwindSafe(|| check(input))).is_err())
        .map(|(name, _)| name)
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
fn inputs_are_kept_for_targets_only() {
    let archives: BTreeSet<_> = TARGETS.iter().map(|target| archive(target)).collect();
    for path in entries(&fuzz().join("corpus")) {
        let is_of_target = archives.contains(&path);
        assert!(is_of_target, "{} is not a target's archive", path.display());
    }
    for path in entries(&fuzz().join("findings")) {
        let is_of_target = path.is_dir() && TARGETS.contains(&stem(&path).as_str());
        assert!(is_of_target, "{} is not a target's", path.display());
        assert!(entries(&path).iter().all(|path| path.is_file()));
    }
}

/// The limit that `fuzz/README.md` states, for the inputs unpacked. It reads the archives of all targets, also of those
/// that these features leave out.
#[test]
fn the_corpus_is_small() {
    let inputs = TARGETS.iter().flat_map(|target| corpus(target));
    let bytes: usize = inputs.map(|(_, input)| input.len()).sum();
    assert!(bytes <= 2 << 20, "{bytes} bytes");
}
