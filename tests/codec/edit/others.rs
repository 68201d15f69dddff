//! Tests that the work of programs that ignore locks and write to the file meanwhile is not undone.

use crate::edit::golden::sensor;
use crate::edit::{NAME, name, names};
use bloscpack::storage::{Access, Folder, Memory, WriteAt};
use bloscpack::{Category, Encoder, Metadata, edit::Editor};
use std::io::{Cursor, Read, Write};

fn file(data: &[u8], spare: u64) -> Vec<u8> {
    let options = Encoder::builder().chunk_size(1000).max_app_chunks(spare);
    let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap().into_inner()
}

/// Writes other bytes over the file, as a program would that opens it by its name.
fn overwrite(folder: &Memory, bytes: &[u8]) {
    let file = folder.open(name(), Access::Write).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
    file.write_all_at(0, bytes).unwrap();
}

/// Versions of the file as another program could leave it: longer, shorter, empty, other content of the same length.
fn others(before: &[u8]) -> Vec<Vec<u8>> {
    let mut counted = before.to_vec();
    counted[16] ^= 1;
    vec![
        file(&sensor(9000, 7), 20),
        before[..before.len() / 2].to_vec(),
        Vec::new(),
        counted,
    ]
}

#[test]
fn what_others_write_meanwhile_is_not_overwritten() {
    for spare in [0, 20] {
        let before = file(&sensor(3500, 1), spare);
        for other in others(&before) {
            for change in 0..3 {
                let folder = Memory::from([(NAME, before.clone())]);
                let mut editor = Editor::open_in(folder.clone(), name()).unwrap();
                let error = match change {
                    0 => {
                        let mut appender = editor.append().unwrap();
                        appender.write_all(&sensor(100, 2)).unwrap();
                        overwrite(&folder, &other);
                        appender
                            .write_all(&sensor(5000, 2))
                            .map_err(bloscpack::Error::from)
                            .and_then(|()| appender.finish())
                            .map(|_| ())
                    }
                    1 => {
                        let mut slow = Slow(&folder, &other, false);
                        editor.patch(1500, &mut slow).map(|_| ())
                    }
                    _ => {
                        overwrite(&folder, &other);
                        editor.set_metadata(&Metadata::from_json("[1]").unwrap())
                    }
                }
                .unwrap_err();
                // A patch may find invalid data before it notices the foreign change.
                assert!(
                    change == 1 || error.category() == Category::Failed,
                    "{error}"
                );
                drop(editor);
                assert!(folder.bytes(NAME).unwrap() == other, "{spare} {change}");
                assert_eq!(names(&folder), [NAME]);
            }
        }
    }
}

/// Data is appended after another program has overwritten the file.
struct Slow<'a>(&'a Memory, &'a [u8], bool);

impl Read for Slow<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        if self.2 {
            return Ok(0);
        }
        self.2 = true;
        overwrite(self.0, self.1);
        buf[..5].copy_from_slice(b"patch");
        Ok(5)
    }
}
