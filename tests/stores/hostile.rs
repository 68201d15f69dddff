use super::{bytes, exported, opened};
use bloscpack::exchange::Format;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The outcome of reading a changed store.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Error,
    Same,
    /// The format has no digests, so that a change may go unnoticed.
    Changed,
}

/// Reads all that is in a store, as text.
fn content(bytes: Vec<u8>) -> bloscpack::Result<String> {
    let mut store = opened(bytes)?;
    let mut all = String::new();
    store.members(&mut |path, outline| {
        all += &format!("{path} {:?}\n", outline?);
        Ok(())
    })?;
    let report = store.verify()?;
    if let Some(damage) = report.damages.into_iter().next() {
        return Err(damage.error);
    }
    if store.kind() == bloscpack::open::Kind::Table {
        all += &exported(&mut *store, Format::JsonLines)?;
    }
    Ok(all)
}

fn outcome(bytes: Vec<u8>, sound: &str) -> Outcome {
    let begun = Instant::now();
    let outcome = match content(bytes) {
        Err(_) => Outcome::Error,
        Ok(found) if found == sound => Outcome::Same,
        Ok(_) => Outcome::Changed,
    };
    assert!(begun.elapsed() < Duration::from_secs(60), "too long");
    outcome
}

/// Counts the outcomes of these changed stores, with several threads.
fn count(changed: &[Vec<u8>], sound: &str) -> [usize; 3] {
    let (next, counts) = (AtomicUsize::new(0), [const { AtomicUsize::new(0) }; 3]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(bytes) = changed.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let at = match outcome(bytes.clone(), sound) {
                        Outcome::Error => 0,
                        Outcome::Same => 1,
                        Outcome::Changed => 2,
                    };
                    counts[at].fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    counts.map(AtomicUsize::into_inner)
}

/// Every bit flip and every cut ends in an error or in data, never in a panic or a hang.
#[test]
fn no_bit_flip_or_cut_is_fatal() {
    for name in ["tree.b2e", "tree.b2z", "small.b2z", "table.b2e"] {
        let whole = bytes(name);
        let sound = content(whole.clone()).unwrap();
        let flips = (0..whole.len() * 8).map(|bit| {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            flipped
        });
        let [errors, same, silent] = count(&flips.collect::<Vec<_>>(), &sound);
        println!("{name}: {errors} errors, {same} without effect, {silent} silent changes");
        assert!(
            errors > silent,
            "{name}: {errors} errors, {silent} silent changes"
        );
        let cuts: Vec<_> = (0..whole.len()).map(|len| whole[..len].to_vec()).collect();
        let [errors, ..] = count(&cuts, &sound);
        assert_eq!(errors, cuts.len(), "{name}: cuts");
    }
}

/// The bytes of a member's name, wherever they are in an archive, replaced by others of the same length.
fn renamed(name: &str, from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut archive = bytes(name);
    let mut replaced = 0;
    for at in 0..archive.len() - from.len() {
        if archive[at..].starts_with(from.as_bytes()) {
            archive[at..at + to.len()].copy_from_slice(to.as_bytes());
            replaced += 1;
        }
    }
    assert!(replaced >= 2, "{replaced}");
    archive
}

#[test]
fn names_that_climb_or_occur_twice_are_refused() {
    for to in ["../b.b2n", "/b2b.b2n", "a/../b2n", "./b.b2nd", "a//b2.nd"] {
        let archive = renamed("small.b2z", "_cols/n.", to);
        assert!(content(archive).is_err(), "{to}");
    }
    let twice = renamed("small.b2z", "_cols/n.b2nd", "_valid_rows.");
    assert!(content(twice).is_err());
}

#[cfg(unix)]
#[test]
fn links_out_of_a_directory_are_not_followed() {
    use bloscpack::open::{OpenOptions, Selection, open};
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("tree.b2d");
    std::fs::create_dir(&root).unwrap();
    let secret = temp.path().join("secret");
    std::fs::create_dir(&secret).unwrap();
    std::fs::copy(super::path("tree.b2e"), root.join("embed.b2e")).unwrap();
    std::fs::copy(super::path("tree.b2e"), secret.join("x.b2f")).unwrap();
    std::os::unix::fs::symlink(&secret, root.join("folder")).unwrap();
    std::os::unix::fs::symlink(secret.join("x.b2f"), root.join("file.b2f")).unwrap();
    let mut tree = open(&root, &OpenOptions::new()).unwrap();
    assert_eq!(super::members(&mut *tree), ["a/x"]);
    let copied = tree.copy(&Selection::default(), &mut Vec::new());
    assert!(copied.is_err());
}
