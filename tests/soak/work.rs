//! Random work of every kind, beside a model of the expected content.

use bloscpack::{
    Checksum, Compressor, Decoder, Encoder, Filter, FormatVersion, Options,
    edit::{Editor, RecordEditor},
    indexed::IndexedReader,
    records::{IndexedRecordReader, RecordReader, RecordWriter},
};
use bloscpack_open::datasets::{CArray, DatasetLayout};
use bloscpack_open::frames::NdArray;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How often something was done and compared.
pub static DONE: AtomicU64 = AtomicU64::new(0);

/// Numbers that look random, the same each time.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, limit: usize) -> usize {
        // Knuth's constants.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Up to that many bytes: noise, a ramp, or all the same.
    fn bytes(&mut self, most: usize) -> Vec<u8> {
        let (len, kind) = (self.below(most), self.below(3));
        let first = self.below(256);
        let byte = |i: usize| match kind {
            0 => (i.wrapping_mul(2_654_435_761).wrapping_add(first) >> 13) as u8,
            1 => (i / 97 + first) as u8,
            _ => first as u8,
        };
        (0..len).map(byte).collect()
    }
}

/// The files and the content that they should have.
pub struct Site {
    folder: PathBuf,
    content: Vec<u8>,
    records: Vec<Vec<u8>>,
    rows: Vec<i32>,
    cells: Vec<i32>,
}

impl Site {
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            content: Vec::new(),
            records: Vec::new(),
            rows: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// Some of each.
    pub fn round(&mut self, dice: &mut Dice) {
        self.stream(dice);
        self.damaged(dice);
        self.file(dice);
        self.list(dice);
        self.dataset(dice);
        self.frame(dice);
        DONE.fetch_add(6, Ordering::Relaxed);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// There and back, with any settings.
    fn stream(&self, dice: &mut Dice) {
        let (content, packed) = packed(dice);
        let mut found = Vec::new();
        let mut decoder =
            Decoder::with_options(packed.as_slice(), Options::new().threads(1 + dice.below(3)));
        decoder.read_to_end(&mut found).unwrap();
        assert!(found == content);
    }

    /// Errors leave nothing either.
    fn damaged(&self, dice: &mut Dice) {
        let (content, mut packed) = packed(dice);
        match dice.below(2) {
            0 => packed.truncate(dice.below(packed.len())),
            _ => {
                let at = dice.below(packed.len());
                packed[at] ^= 1 << dice.below(8);
            }
        }
        let mut found = Vec::new();
        let mut decoder =
            Decoder::with_options(packed.as_slice(), Options::new().threads(1 + dice.below(3)));
        assert!(decoder.read_to_end(&mut found).is_err());
        assert!(content.starts_with(&found));
        // Dropped in the middle.
        let mut encoder = Encoder::builder()
            .chunk_size(1000)
            .threads(3)
            .write_to(Vec::new())
            .unwrap();
        encoder.write_all(&content).unwrap();
    }

    /// A file that grows and is patched.
    fn file(&mut self, dice: &mut Dice) {
        let path = self.path("a.blp");
        if !path.exists() || self.content.len() > 1 << 20 {
            let (content, file) = packed(dice);
            fs::write(&path, file).unwrap();
            self.content = content;
        }
        let more = dice.bytes(50_000);
        let mut editor = Editor::open(&path).unwrap();
        if dice.below(2) == 0 || self.content.is_empty() {
            let mut appender = editor.append().unwrap();
            appender.write_all(&more).unwrap();
            appender.finish().unwrap();
            self.content.extend_from_slice(&more);
        } else {
            let at = dice.below(self.content.len());
            let more = &more[..more.len().min(self.content.len() - at)];
            editor.patch(at as u64, more).unwrap();
            self.content[at..at + more.len()].copy_from_slice(more);
        }
        drop(editor);
        let reader = IndexedReader::open(fs::File::open(&path).unwrap()).unwrap();
        let from = dice.below(self.content.len() + 1);
        let to = from + dice.below(self.content.len() + 1 - from);
        let mut found = vec![0; to - from];
        reader.read_exact_at(from as u64, &mut found).unwrap();
        assert!(found == self.content[from..to]);
    }

    /// Records that are appended, and read by number and in order.
    fn list(&mut self, dice: &mut Dice) {
        let path = self.path("r.blp");
        if !path.exists() || self.records.len() > 2_000 {
            let options =
                RecordWriter::builder().version(dice.one(&[FormatVersion::V2, FormatVersion::V3]));
            let options = match dice.below(2) {
                0 => options,
                _ => options.packed(4096),
            };
            let file = fs::OpenOptions::new()
                .create(true)
                .truncate(true)
                .read(true)
                .write(true)
                .open(&path)
                .unwrap();
            options.write_to_file(file).unwrap().finish().unwrap();
            self.records.clear();
        }
        let mut editor = RecordEditor::open(&path).unwrap();
        let mut appender = editor.append().unwrap();
        for _ in 0..dice.below(100) {
            let record = dice.bytes(500);
            appender.push(&record).unwrap();
            self.records.push(record);
        }
        appender.finish().unwrap();
        drop(editor);
        let file = fs::read(&path).unwrap();
        let mut reader =
            RecordReader::with_options(file.as_slice(), Options::new().threads(1 + dice.below(3)));
        for record in &self.records {
            assert_eq!(reader.next_record().unwrap(), Some(record.as_slice()));
        }
        assert_eq!(reader.next_record().unwrap(), None);
        if !self.records.is_empty() {
            let reader = IndexedRecordReader::open(fs::File::open(&path).unwrap()).unwrap();
            let number = dice.below(self.records.len());
            assert_eq!(reader.get(number as u64).unwrap(), self.records[number]);
        }
    }

    /// A dataset that grows, shrinks and is overwritten.
    fn dataset(&mut self, dice: &mut Dice) {
        let path = self.path("d");
        if !path.exists() || self.rows.len() > 100_000 {
            if path.exists() {
                fs::remove_dir_all(&path).unwrap();
            }
            let layouts = [
                DatasetLayout::Bcolz,
                DatasetLayout::Blz,
                DatasetLayout::BlzDocument,
                DatasetLayout::CarrayDocument,
            ];
            let options = CArray::of::<i32>()
                .layout(dice.one(&layouts))
                .chunk_rows(1 + dice.below(3_000) as u64);
            options.create(&path).unwrap().flush().unwrap();
            self.rows.clear();
        }
        let mut array = CArray::edit(&path).unwrap();
        let values: Vec<i32> = dice
            .bytes(20_000)
            .iter()
            .map(|byte| i32::from(*byte) * 3)
            .collect();
        match dice.below(4) {
            0 if !self.rows.is_empty() => {
                let from = dice.below(self.rows.len());
                let values = &values[..values.len().min(self.rows.len() - from)];
                let to = from + values.len();
                array.set(&[from as u64..to as u64], values).unwrap();
                self.rows[from..to].copy_from_slice(values);
            }
            1 => {
                let rows = dice.below(self.rows.len() + 100);
                array.resize(rows as u64).unwrap();
                self.rows.resize(rows, 0);
            }
            // Never flushed.
            2 => {
                array.append_values(&values).unwrap();
                drop(array);
                array = CArray::edit(&path).unwrap();
            }
            _ => {
                array.append_values(&values).unwrap();
                self.rows.extend_from_slice(&values);
            }
        }
        array.flush().unwrap();
        drop(array);
        let array = CArray::open(&path).unwrap();
        assert!(array.to_vec::<i32>(0..array.rows()).unwrap() == self.rows);
    }

    /// An array in a frame, a file or a directory, that is written and changes its length.
    fn frame(&mut self, dice: &mut Dice) {
        let path = self.path("f.b2nd");
        if !path.exists() || self.cells.len() > 30_000 {
            if path.is_dir() {
                fs::remove_dir_all(&path).unwrap();
            } else if path.exists() {
                fs::remove_file(&path).unwrap();
            }
            self.cells = vec![0; 3_000];
            let options = NdArray::of_type::<i32>(&[300, 10])
                .chunk_shape(&[70, 7])
                .block_shape(&[20, 3]);
            let mut array = match dice.below(2) {
                0 => options.create(&path),
                _ => options.create_sparse(&path),
            }
            .unwrap();
            array.flush().unwrap();
        }
        let mut array = NdArray::edit(&path).unwrap();
        let rows = self.cells.len() / 10;
        if dice.below(2) == 0 {
            let more = 1 + dice.below(500);
            array.resize(&[(rows + more) as u64, 10]).unwrap();
            self.cells.resize((rows + more) * 10, 0);
        } else {
            let from = dice.below(rows);
            let to = from + 1 + dice.below(rows - from);
            let values: Vec<i32> = (from..to).flat_map(|row| [row as i32; 10]).collect();
            array
                .write(&[from as u64..to as u64, 0..10], &values)
                .unwrap();
            self.cells[from * 10..to * 10].copy_from_slice(&values);
        }
        array.flush().unwrap();
        drop(array);
        let array = NdArray::open(&path).unwrap();
        let rows = array.shape()[0];
        assert!(array.to_vec::<i32>(&[0..rows, 0..10]).unwrap() == self.cells);
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        for entry in fs::read_dir(&self.folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            // Other entries are leftovers.
            match name {
                "a.blp" | "r.blp" => fs::remove_file(path).unwrap(),
                "d" => fs::remove_dir_all(path).unwrap(),
                "f.b2nd" if path.is_dir() => fs::remove_dir_all(path).unwrap(),
                "f.b2nd" => fs::remove_file(path).unwrap(),
                _ => {}
            }
        }
    }
}

/// Some bytes, and the results of any settings for them.
fn packed(dice: &mut Dice) -> (Vec<u8>, Vec<u8>) {
    let content = dice.bytes(300_000);
    let compressors = [
        Compressor::Blosclz,
        Compressor::Lz4,
        Compressor::Lz4hc,
        Compressor::Zlib,
        Compressor::Zstd,
    ];
    let options = Encoder::builder()
        .compressor(dice.one(&compressors))
        .level(u8::try_from(dice.below(7)).unwrap())
        .filter(dice.one(&[Filter::None, Filter::Byte, Filter::Bit]))
        .typesize(dice.one(&[1, 2, 4, 8, 16]))
        .checksum(dice.one(&[Checksum::Adler32, Checksum::Crc32, Checksum::Sha256]))
        .version(dice.one(&[FormatVersion::V2, FormatVersion::V3]))
        .chunk_size(1_000 + u32::try_from(dice.below(50_000)).unwrap())
        .threads(1 + dice.below(3));
    let mut encoder = options
        .write_to_file(std::io::Cursor::new(Vec::new()))
        .unwrap();
    encoder.write_all(&content).unwrap();
    (content, encoder.finish().unwrap().into_inner())
}
