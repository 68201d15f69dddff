//! Tests of the builder of hostile directories: its datasets are sound but for the harm, and their surroundings are
//! watched.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use testkit::documents;
use testkit::hostile_dirs;

use documents::{Read, bcolz, blz, blz_document, carray_document, unless_it_panics};
use hostile_dirs::{Built, Case, Expected, Leaves, Sound, cases, some};
use std::collections::BTreeSet;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::panic::catch_unwind;
use std::path::Path;

fn built(case: &Case) -> (tempfile::TempDir, Built) {
    let temp = tempfile::tempdir().unwrap();
    let built = case.build(temp.path());
    (temp, built)
}

/// Strictly, by what the documents say.
fn read(sound: Sound, root: &Path) -> Leaves {
    let read: Read = match sound {
        Sound::Array | Sound::Table | Sound::Nothing => bcolz::read(root),
        Sound::BlzTable => blz::read(root),
        Sound::Document | Sound::Nested => blz_document::read(root),
        Sound::Proposal | Sound::NestedProposal => carray_document::read(root),
    };
    let leaves = read.leaves.into_iter();
    leaves.map(|leaf| (leaf.name, leaf.bytes)).collect()
}

#[test]
fn the_sound_ones_are_sound_but_for_what_is_never_looked_at() {
    let sounds = [
        Sound::Document,
        Sound::Nested,
        Sound::Proposal,
        Sound::NestedProposal,
    ];
    for sound in sounds {
        let folder = tempfile::tempdir().unwrap();
        sound.write(folder.path());
        assert_eq!(read(sound, folder.path()), sound.leaves(), "{sound:?}");
    }
    for sound in [Sound::Array, Sound::Table, Sound::BlzTable] {
        let folder = tempfile::tempdir().unwrap();
        sound.write(folder.path());
        let rules = match sound {
            Sound::BlzTable => blz::V0_6,
            _ => bcolz::SINCE_1_1,
        };
        let relaxed = documents::real::Relaxed {
            cbytes: true,
            ..Default::default()
        };
        let read = documents::real::read(folder.path(), rules, relaxed);
        let leaves = read.leaves.into_iter();
        let leaves: Leaves = leaves.map(|leaf| (leaf.name, leaf.bytes)).collect();
        assert_eq!(leaves, sound.leaves(), "{sound:?}");
    }
}

#[test]
fn there_are_enough_and_no_two_of_a_name() {
    let cases = cases();
    let names: BTreeSet<_> = cases.iter().map(|case| &case.name).collect();
    assert_eq!(names.len(), cases.len());
    assert!(cases.len() > 300, "{} cases", cases.len());
    let refused = cases
        .iter()
        .filter(|case| case.expected == Expected::Refused)
        .count();
    println!("{} cases, {refused} of which are refused", cases.len());
}

/// The strictest of readers refuses all directories that must be refused, and none of them hangs it; its results for
/// the others are as expected.
#[test]
fn strict_readers_agree() {
    let mut wrong = Vec::new();
    // C-Blosc trusts the chunks that it is given.
    let is_for_c_blosc = |case: &Case| {
        ["no copy, and no streams", "a block outside"]
            .iter()
            .any(|end| case.name.ends_with(end))
    };
    for case in some(5).iter().filter(|case| !is_for_c_blosc(case)) {
        let (_temp, built) = built(case);
        let found = unless_it_panics(|| read(case.sound, &built.root));
        let right = match (&case.expected, &found) {
            (_, None) => true,
            (Expected::Refused, Some(_)) => false,
            (Expected::Reads(leaves) | Expected::RefusedOrReads(leaves), Some(found)) => {
                leaves == found
            }
        };
        if !right {
            wrong.push(format!("{}: {found:?}", case.name));
        }
        built.canary.check();
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The name of a case says what it puts where.
#[test]
fn links_pipes_and_folders_are_where_they_are_said_to_be() {
    let mut seen = BTreeSet::new();
    for case in cases() {
        let Some((what, of)) = case.name.split_once(": ") else {
            continue;
        };
        let Some((path, _)) = of.split_once(" of ") else {
            continue;
        };
        let (temp, built) = built(&case);
        let path = built.root.join(path);
        let metadata = path.symlink_metadata();
        let is = |what: fn(&std::fs::Metadata) -> bool| metadata.as_ref().is_ok_and(what);
        let leads_to = |to: &Path| path.read_link().is_ok_and(|link| link == to);
        let right = match what {
            "a link to outside" => {
                let link = path.read_link().unwrap();
                link.starts_with(temp.path().join("outside")) && link.exists()
            }
            "a link to itself" => leads_to(&path),
            "a link to a pipe" => leads_to(&temp.path().join("outside/pipe")),
            "a link to endless zeros" => leads_to(Path::new("/dev/zero")),
            "a pipe" => is(|metadata| metadata.file_type().is_fifo()),
            "a folder" => is(std::fs::Metadata::is_dir),
            "a file" => is(std::fs::Metadata::is_file),
            "a terabyte" => is(|m| m.len() == 1 << 40 && m.blocks() < 1000),
            "missing" => metadata.is_err(),
            "no bytes" => is(|metadata| metadata.len() == 0),
            _ => continue,
        };
        assert!(right, "{}: {metadata:?}", case.name);
        seen.insert(what.to_owned());
    }
    assert_eq!(seen.len(), 10, "{seen:?}");
}

#[test]
fn some_of_them_are_what_they_are_said_to_be() {
    let find = |name: &str| {
        let all = cases();
        let found = all.into_iter().find(|case| case.name == name);
        found.unwrap_or_else(|| panic!("no case {name:?}"))
    };
    let (_temp, nul) = built(&find("names: NUL"));
    let rootdirs = std::fs::read_to_string(nul.root.join("__rootdirs__")).unwrap();
    assert_eq!(rootdirs, "{\"names\":[\"a\\u0000b\"]}\n");

    let (_temp, litter) = built(&find("litter: names in Array"));
    let names = litter.root.join("data").read_dir().unwrap();
    let mut names = names.map(|entry| entry.unwrap().file_name());
    assert!(names.any(|name| name.to_str().is_none()));

    let (_temp, second) = built(&find("a second name outside of a superchunk"));
    let superchunk = second.root.join("data/__1.blp").metadata().unwrap();
    assert_eq!(superchunk.nlink(), 2);

    let (_temp, forbidden) = built(&find("forbidden: sizes"));
    let sizes = forbidden.root.join("meta/sizes").metadata().unwrap();
    assert_eq!(sizes.permissions().mode() & 0o777, 0);

    let (_temp, root) = built(&find("a link as the root"));
    assert!(root.root.symlink_metadata().unwrap().is_symlink());
    assert!(root.root.join("meta/sizes").is_file());

    let (_temp, up) = built(&find("names: .."));
    assert!(up.root.join("../meta/sizes").is_file());

    let (_temp, upper) = built(&find("names: case"));
    assert!(upper.root.join("a/meta/sizes").is_file() && upper.root.join("A/meta/sizes").is_file());

    let (_temp, deep) = built(&find("names: a million deep"));
    assert!(deep.root.join("__rootdirs__").metadata().unwrap().len() > 2_000_000);
}

#[test]
fn a_canary_sees_what_is_done_outside() {
    let all = cases();
    let case = all
        .iter()
        .find(|case| case.name == "an empty folder")
        .unwrap();
    let alive = |harm: fn(&Path)| {
        let (temp, built) = built(case);
        built.canary.check();
        std::fs::write(built.root.join("within"), b"is allowed").unwrap();
        built.canary.check();
        harm(&temp.path().join("outside"));
        unless_it_panics(|| built.canary.check()).is_some()
    };
    assert!(!alive(
        |outside| std::fs::write(outside.join("new"), b"").unwrap()
    ));
    assert!(!alive(|outside| std::fs::write(
        outside.join("array/meta/sizes"),
        b"x"
    )
    .unwrap()));
    assert!(!alive(|outside| std::fs::remove_file(
        outside.join("array/meta/sizes")
    )
    .unwrap()));
    assert!(!alive(
        |outside| std::fs::remove_file(outside.join("pipe")).unwrap()
    ));
    let probe = tempfile::NamedTempFile::new().unwrap();
    let read_at = || probe.path().metadata().unwrap().accessed().unwrap();
    let old = std::fs::FileTimes::new().set_accessed(std::time::SystemTime::UNIX_EPOCH);
    probe.as_file().set_times(old).unwrap();
    std::fs::read(probe.path()).unwrap_or_default();
    if read_at() == std::time::SystemTime::UNIX_EPOCH {
        println!("this file system does not note when a file is read");
        return;
    }
    assert!(!alive(|outside| drop(
        std::fs::read(outside.join("array/meta/sizes")).unwrap()
    )));
}

#[test]
fn what_hangs_is_noticed_and_what_panics_panics() {
    assert_eq!(hostile_dirs::hurried("quick", || 7), 7);
    let panics = catch_unwind(|| hostile_dirs::hurried("panics", || panic!("indeed")));
    assert_eq!(panics.unwrap_err().downcast_ref::<&str>(), Some(&"indeed"));
}
