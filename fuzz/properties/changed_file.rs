//! Any bytes as a file, and any changes to it: each success leaves the content of a `Vec<u8>`, and each failure
//! leaves the file unchanged.

use bloscpack::storage::Memory;
use bloscpack::{Decoder, Limits, Metadata, Options, edit::Editor};
use std::io::{Read, Write};

/// Limits are for reading: a new chunk may be a single block.
const LIMITS: Limits = Limits::new()
    .chunk(1 << 20)
    .block(1 << 20)
    .metadata(1 << 16)
    .offsets(1 << 20);

/// More data than this is not worth the time.
const ENOUGH: u64 = 4 << 20;
const NAME: &str = "a.blp";

fn decoded(file: &[u8]) -> bloscpack::Result<Vec<u8>> {
    let mut data = Vec::new();
    let decoder = Decoder::with_options(file, Options::new().limits(LIMITS));
    decoder.take(ENOUGH).read_to_end(&mut data)?;
    Ok(data)
}

/// One change, encoded in a few bytes; true if it was made.
fn change(
    editor: &mut Editor<Memory>,
    kind: u8,
    [at, len, fill]: [u8; 3],
    model: &mut Vec<u8>,
) -> bool {
    let data: Vec<u8> = (0..usize::from(len) * 7)
        .map(|i| fill.wrapping_mul(i as u8))
        .collect();
    match kind % 4 {
        0 => {
            let Ok(mut appender) = editor.append() else {
                return false;
            };
            let done = appender.write_all(&data).is_ok() && appender.finish().is_ok();
            if done {
                model.extend_from_slice(&data);
            }
            done
        }
        1 => {
            let at = model.len() * usize::from(at) / 255;
            let done = editor.patch(at as u64, data.as_slice()).is_ok();
            if done {
                model[at..at + data.len()].copy_from_slice(&data);
            }
            done
        }
        2 => {
            let text = format!("\"{}\"", "m".repeat(usize::from(at) * 3));
            let metadata = Metadata::from_json(text).expect("a string");
            editor.set_metadata(&metadata).is_ok()
        }
        _ => editor.reindex().is_ok(),
    }
}

pub fn check(input: &[u8]) {
    let Some((count, rest)) = input.split_first() else {
        return;
    };
    let (changes, file) = rest.split_at(rest.len().min(usize::from(count % 6) * 4));
    let folder = Memory::from([(NAME, file.to_vec())]);
    let options = Editor::builder().options(Options::new().limits(LIMITS));
    let editor = options.open_in(folder.clone(), NAME.as_ref());
    let Ok(mut editor) = editor else {
        assert!(
            folder.bytes(NAME).as_deref() == Some(file),
            "it was refused and changed"
        );
        return;
    };
    if editor.content_len() >= ENOUGH / 2 {
        return;
    }
    let Ok(mut model) = decoded(file) else {
        return;
    };
    // The file after the last change that was made.
    let mut left = file.to_vec();
    for told in changes.chunks_exact(4) {
        let before = folder.bytes(NAME);
        let changed = change(
            &mut editor,
            told[0],
            [told[1], told[2], told[3]],
            &mut model,
        );
        let after = folder.bytes(NAME).expect("the file");
        assert!(decoded(&after).expect("it stays readable") == model);
        if changed {
            left = after;
        } else if told[0] % 4 != 0 {
            // All that may have gone are bytes that meant nothing.
            assert!(
                before.expect("the file").starts_with(&after),
                "a failure has changed it"
            );
        }
    }
    // A failed append may have left bytes after the end while the file is open.
    drop(editor);
    let after = folder.bytes(NAME).expect("the file");
    assert!(left.starts_with(&after), "a failure has changed it");
}
