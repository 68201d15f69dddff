//! Any bytes as a file of NumPy or as CSV give an error or rows, the same for any batch size; rows that were read are
//! written and read again as the same.

use bloscpack::Result;
use bloscpack_open::array::Array as _;
use bloscpack_open::exchange::{
    Batch, BoxedSource, Column, Format, ImportOptions, NpyFile, Schema, Source, export, open_at,
};

/// More rows and bytes are not worth the time.
const MOST_ROWS: u64 = 5000;
const ENOUGH: u64 = 1 << 18;

/// Columns in memory.
#[derive(Clone, Debug)]
struct Held {
    schema: Schema,
    rows: u64,
    columns: Vec<Vec<u8>>,
    done: bool,
}

impl Held {
    /// Reads a source to its end, in batches of `bytes` bytes; `None` if it is too large.
    fn of(mut source: BoxedSource<'_>, bytes: usize) -> Option<Result<Self>> {
        let schema = source.schema().clone();
        let rows = source
            .known_rows()
            .expect("opened without a type for each column");
        if rows > MOST_ROWS || rows.saturating_mul(schema.row_bytes()) > ENOUGH {
            // A file may be shorter than it declares, which the first rows show.
            let _ = source.next_batch(bytes.min(64));
            return None;
        }
        let (mut taken, mut columns) = (0, vec![Vec::new(); schema.columns.len()]);
        loop {
            let batch = match source.next_batch(bytes) {
                Ok(Some(batch)) => batch,
                Ok(None) => break,
                Err(error) => return Some(Err(error)),
            };
            assert!(batch.rows > 0 && batch.columns.len() == columns.len());
            taken += batch.rows;
            for ((all, some), column) in columns.iter_mut().zip(batch.columns).zip(&schema.columns)
            {
                assert_eq!(some.len() as u64, batch.rows * column.row_bytes());
                all.extend(some);
            }
        }
        assert_eq!(taken, rows);
        Some(Ok(Self {
            schema,
            rows,
            columns,
            done: false,
        }))
    }

    /// The elements of all columns as text.
    fn texts(&self) -> Vec<String> {
        let columns = self.schema.columns.iter().zip(&self.columns);
        columns
            .flat_map(|(column, bytes)| texts(column, bytes))
            .collect()
    }
}

fn texts<'a>(column: &'a Column, bytes: &'a [u8]) -> impl Iterator<Item = String> + 'a {
    let elements = bytes.chunks_exact((column.dtype.itemsize() as usize).max(1));
    elements.map(|element| {
        let mut text = String::new();
        column.dtype.write_text(element, &mut text);
        text
    })
}

impl Source for Held {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn next_batch(&mut self, _: usize) -> Result<Option<Batch>> {
        let is_left = !std::mem::replace(&mut self.done, true) && self.rows > 0;
        Ok(is_left.then(|| Batch {
            rows: self.rows,
            columns: self.columns.clone(),
            ..Batch::default()
        }))
    }
}

fn read(
    file: &[u8],
    format: Format,
    options: &ImportOptions,
    bytes: usize,
) -> Option<Result<Held>> {
    match open_at(file.to_vec(), format, options) {
        Ok(source) => Held::of(source, bytes),
        Err(error) => Some(Err(error)),
    }
}

fn written(held: &Held, format: Format) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    export(&mut held.clone(), format, &mut file, &mut |_| {})?;
    Ok(file)
}

/// Out and in again.
fn again(held: &Held) {
    if let Ok(file) = written(held, Format::Npy) {
        let back = read(&file, Format::Npy, &ImportOptions::new(), 1000)
            .expect("as small")
            .expect("our own");
        assert_eq!(back.rows, held.rows);
        if !held.schema.is_table {
            assert!(back.columns == held.columns);
        }
    }
    if let Ok(lines) = written(held, Format::JsonLines) {
        let count = lines.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(count as u64, held.rows);
        for line in lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            serde_json::from_slice::<serde_json::Value>(line).expect("JSON");
        }
    }
    if let Ok(file) = written(held, Format::Csv) {
        let columns = held.schema.columns.iter().cloned();
        let typed = columns.fold(ImportOptions::new(), ImportOptions::column);
        match read(&file, Format::Csv, &typed, 1000) {
            Some(Ok(back)) => assert_eq!(back.texts(), held.texts()),
            Some(Err(error)) => panic!("our own, but {error}: {}", file.escape_ascii()),
            None => {}
        }
    }
}

/// Slices of an array are parts of it.
fn slices(file: &[u8]) {
    let Ok(array) = NpyFile::open_at(file) else {
        return;
    };
    let slice: Vec<_> = array
        .shape()
        .iter()
        .map(|len| len / 3..len - len / 3)
        .collect();
    let len = slice
        .iter()
        .map(|range| range.end - range.start)
        .try_fold(array.dtype().itemsize(), u64::checked_mul);
    if len.is_some_and(|len| len < ENOUGH) {
        let found = array.read_slice(&slice);
        assert!(found.is_err() || found.is_ok_and(|found| Some(found.len() as u64) == len));
    }
}

pub fn check(input: &[u8]) {
    let Some((first, file)) = input.split_first() else {
        return;
    };
    let format = if file.starts_with(b"\x93NUMPY") {
        Format::Npy
    } else {
        Format::Csv
    };
    let mut options =
        ImportOptions::new().delimiter([b',', b';', b'\t', b'|'][usize::from(first % 4)]);
    if first & 4 != 0 {
        options = options.fill_all("7");
    }
    let Some(held) = read(file, format, &options, 100) else {
        return;
    };
    let at_once = read(file, format, &options, ENOUGH as usize).expect("as small");
    assert_eq!(held.is_ok(), at_once.is_ok());
    if let (Ok(held), Ok(at_once)) = (held, at_once) {
        assert!(held.columns == at_once.columns && held.schema == at_once.schema);
        again(&held);
    }
    if format == Format::Npy {
        slices(file);
    }
}
