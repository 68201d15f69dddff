//! Links, pipes, devices and folders in the place of files, and the other way round.

use super::sound::Sound::{Array, BlzTable, Document, Nested, Nothing, Proposal, Table};
use super::{Case, Sound, doubtful, harmless, refused};

/// A file of each kind, in a dataset that has it; and what would do in its place outside.
const FILES: [(Sound, &str, &str); 12] = [
    (Array, "meta/sizes", "array/meta/sizes"),
    (Array, "meta/storage", "array/meta/storage"),
    (Array, "__attrs__", "array/__attrs__"),
    (Array, "data/__1.blp", "array/data/__1.blp"),
    (Table, "__rootdirs__", "table/__rootdirs__"),
    (Table, "__attrs__", "table/__attrs__"),
    (BlzTable, "b/meta/sizes", "table/b/meta/sizes"),
    (Document, "data/__1__.bin", "document/data/__1__.bin"),
    (Document, "meta/attributes", "document/meta/attributes"),
    (Document, "meta/sizes", "document/meta/sizes"),
    (Proposal, "meta/shape", "array/meta/sizes"),
    (Proposal, "meta/storage", "array/meta/storage"),
];

/// Likewise for folders.
const FOLDERS: [(Sound, &str, &str); 6] = [
    (Array, "data", "array/data"),
    (Array, "meta", "array/meta"),
    (Table, "a", "table/a"),
    (Document, "data", "document/data"),
    (Document, "meta", "document/meta"),
    (Nested, "data/b", "document/data"),
];

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (sound, path, outside) in FILES.into_iter().chain(FOLDERS) {
        let at = format!("{path} of {sound:?}");
        cases.extend([
            refused(format!("a link to outside: {at}"), sound, move |place| {
                place.link(path, place.outside.join(outside));
            }),
            refused(format!("a link to itself: {at}"), sound, move |place| {
                place.link(path, place.root.join(path));
            }),
            refused(format!("a link to a pipe: {at}"), sound, move |place| {
                place.link(path, place.outside.join("pipe"));
            }),
            refused(format!("a pipe: {at}"), sound, move |place| {
                place.fifo(path)
            }),
        ]);
    }
    for (sound, path, _) in FILES {
        let at = format!("{path} of {sound:?}");
        cases.extend([
            refused(
                format!("a link to endless zeros: {at}"),
                sound,
                move |place| {
                    place.link(path, "/dev/zero");
                },
            ),
            refused(format!("a folder: {at}"), sound, move |place| {
                place.folder(path)
            }),
        ]);
    }
    for (sound, path, _) in FOLDERS {
        cases.push(refused(
            format!("a file: {path} of {sound:?}"),
            sound,
            move |place| {
                place.remove(path);
                place.write(path, "no folder");
            },
        ));
    }
    cases.extend(others());
    cases
}

fn others() -> Vec<Case> {
    vec![
        refused("a link up: a of Table", Table, |place| {
            place.link("a", "..")
        }),
        refused("a link to the table: a of Table", Table, |place| {
            place.link("a", ".")
        }),
        refused("nothing there", Nothing, |place| place.remove("")),
        refused("an empty folder", Nothing, |_| ()),
        refused("a file as the root", Nothing, |place| {
            place.remove("");
            std::fs::write(&place.root, "no folder").unwrap();
        }),
        refused("a pipe as the root", Nothing, |place| {
            place.remove("");
            super::place::fifo(&place.root);
        }),
        // A root that is itself a link is followed.
        harmless("a link as the root", Array, |place| {
            let real = place.root.with_file_name("real");
            std::fs::rename(&place.root, &real).unwrap();
            place.link("", "real");
        }),
        harmless("a second name outside of a superchunk", Array, |place| {
            let (superchunk, outside) = (place.root.join("data/__1.blp"), &place.outside);
            std::fs::hard_link(superchunk, outside.join("second")).unwrap();
        }),
        doubtful("forbidden: sizes", Array, |place| {
            place.forbid("meta/sizes")
        }),
        doubtful("forbidden: superchunk", Array, |place| {
            place.forbid("data/__1.blp")
        }),
        doubtful("forbidden: attrs", Array, |place| place.forbid("__attrs__")),
        doubtful("forbidden: document", Document, |place| {
            place.forbid("data/__2__.bin")
        }),
    ]
}
