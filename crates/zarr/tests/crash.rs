//! A crash while an array grows or shrinks leaves the old array or the new one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bloscpack::Options;
use bloscpack_array::Flat;
use bloscpack_dtype::DType;
use bloscpack_error::Result;
use bloscpack_storage::Key;
use bloscpack_zarr::{
    ArrayFiles, ArrayWriter, Format, NewArray, ZarrArray, ZarrEditor, create_group,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use testkit::crash::{Depth, for_each_state};
use testkit::golden::Random;
use testkit::recorder::{Disk, TreeRecorder};

const DEPTH: Depth = Depth {
    exhaustive: 8,
    random: 6,
};

/// The shape and the elements.
type Seen = (Vec<u64>, Vec<u8>);

fn options() -> Options {
    Options::new().threads(1)
}

fn seen(store: &TreeRecorder) -> Result<Seen> {
    let array = ZarrArray::open(Arc::new(store.clone()), &Key::parse("g/a")?, &options())?;
    let shape = array.shape().to_vec();
    let all: Vec<_> = shape.iter().map(|len| 0..*len).collect();
    Ok((shape, array.read_slice(&all)?))
}

/// An array of 5 by 7 in a group, in chunks of 2 by 3.
fn array(store: &TreeRecorder, format: Format, shards: u64) {
    let mut new = NewArray::new(format, DType::U8, &[5, 7], &[2, 3]);
    new.chunks_per_shard = shards;
    new.fill = Some(vec![200]);
    let folder = Key::parse("g/a").unwrap();
    let store: Arc<dyn bloscpack_storage::Store> = Arc::new(store.clone());
    let writer = ArrayWriter::create(store.clone(), folder, new).unwrap();
    let data = Flat::new((0..35).collect::<Vec<u8>>(), DType::U8, &[5, 7], false).unwrap();
    writer.fill_from(&data, false, 1, &mut |_| Ok(())).unwrap();
    let files: ArrayFiles = writer.finish().unwrap();
    create_group(&*store, format, "{}", &[files], &BTreeMap::new()).unwrap();
}

fn change(store: TreeRecorder, shape: Option<&[u64]>, axis: usize) -> Result<()> {
    let store = Arc::new(store);
    let mut editor = ZarrEditor::open(store, Key::parse("g/a")?, &options())?;
    if let Some(shape) = shape {
        return editor.resize(shape, &mut |_| Ok(()));
    }
    let (lens, count) = if axis == 0 {
        ([4, 7], 28)
    } else {
        ([5, 6], 30)
    };
    let more = Flat::new(
        (100..100 + count).collect::<Vec<u8>>(),
        DType::U8,
        &lens,
        false,
    )?;
    editor.append(axis, &more, &mut |_| Ok(()))
}

/// The same array after it was resized to a shape that is nowhere shorter.
fn grown((shape, data): &Seen, to: [u64; 2]) -> Seen {
    let mut elements = data.iter().copied();
    let mut all = Vec::new();
    for row in 0..to[0] {
        for column in 0..to[1] {
            let is_there = row < shape[0] && column < shape[1];
            let element = is_there.then(|| elements.next().unwrap());
            all.push(element.unwrap_or(200));
        }
    }
    (to.to_vec(), all)
}

#[test]
fn a_crash_leaves_the_old_array_or_the_new_one() {
    let mut random = Random::new(39);
    let shapes: [(Option<&[u64]>, usize); 7] = [
        (None, 0),
        (None, 1),
        (Some(&[3, 4]), 0),
        (Some(&[9, 8]), 0),
        (Some(&[5, 0]), 0),
        (Some(&[3, 9]), 0),
        (Some(&[8, 2]), 0),
    ];
    for (format, shards) in [(Format::V2, 1), (Format::V3, 1), (Format::V3, 2)] {
        let begun = TreeRecorder::new(Disk::new());
        array(&begun, format, shards);
        let before = begun.disk();
        for (shape, axis) in shapes {
            let old = seen(&TreeRecorder::new(before.clone())).unwrap();
            let recorder = TreeRecorder::new(before.clone());
            change(recorder.clone(), shape, axis).unwrap();
            let (new, done) = (seen(&recorder).unwrap(), recorder.done());
            assert_ne!(old, new);
            let mut states = 0;
            for_each_state(&recorder.log(), &[], DEPTH, &mut random, |at, disk| {
                states += 1;
                let left = TreeRecorder::new(disk.clone());
                let found = seen(&left).unwrap();
                assert!(
                    found == old || found == new,
                    "after operation {at} of {done}"
                );
                assert!(at < done || found == new, "lost after it was done");
                if states % 3 != 0 {
                    return;
                }
                // What was left behind is in nobody's way.
                if found == old {
                    change(left.clone(), shape, axis).unwrap();
                    assert!(seen(&left).unwrap() == new, "after operation {at}, again");
                }
                change(left.clone(), Some(&[11, 14]), 0).unwrap();
                assert!(
                    seen(&left).unwrap() == grown(&new, [11, 14]),
                    "after operation {at}, grown"
                );
            });
            assert!(states > 5, "{states} states");
        }
    }
}
