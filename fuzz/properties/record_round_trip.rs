//! With any options, records are read back in order and by number, and any number of threads gives the same bytes.

use arbitrary::{Arbitrary, Unstructured};
use bloscpack::{
    Checksum, Compressor, Filter, FormatVersion, Metadata,
    records::{IndexedRecordReader, RecordReader, RecordWriter, RecordWriterBuilder},
};
use std::io::Cursor;

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    compressor: u8,
    level: u8,
    filter: u8,
    typesize: u8,
    checksum: u8,
    is_v3: bool,
    offsets: bool,
    spare: Option<u8>,
    metadata: Option<&'a str>,
    dtype: &'a str,
    packed: Option<u16>,
    count_known: bool,
    seek: bool,
    threads: u8,
    flush_every: u8,
    times: u8,
    records: Vec<&'a [u8]>,
}

impl Case<'_> {
    fn records(&self) -> impl Iterator<Item = &[u8]> + Clone {
        // Many chunks take many bytes of input otherwise.
        let times = usize::from(self.times) + 1;
        std::iter::repeat_n(&self.records, times).flatten().copied()
    }

    fn builder(&self) -> RecordWriterBuilder {
        let mut builder = RecordWriter::builder()
            .compressor(Compressor::ALL[usize::from(self.compressor % 6)])
            // The highest levels take most of the time to begin.
            .level(self.level % 6)
            .filter(Filter::ALL[usize::from(self.filter % 3)])
            .typesize(self.typesize.max(1))
            .checksum(Checksum::ALL[usize::from(self.checksum % 9)])
            .version(if self.is_v3 {
                FormatVersion::V3
            } else {
                FormatVersion::V2
            })
            .offsets(self.offsets)
            .dtype(self.dtype);
        if let Some(size) = self.packed {
            builder = builder.packed(u32::from(size) + 64);
        }
        if let Some(spare) = self.spare {
            builder = builder.max_app_chunks(spare.into());
        }
        if let Some(key) = self.metadata {
            let text = format!("{{{}: {{\"packing\": 1}}}}", quoted(key));
            builder = builder.metadata(Metadata::from_json(text).expect("JSON"));
        }
        if self.count_known {
            builder = builder.count(self.records().count() as u64);
        }
        builder
    }

    fn write(&self, threads: usize) -> Vec<u8> {
        let builder = self.builder().threads(threads);
        let flushes = |number: usize| {
            self.flush_every > 0 && number.is_multiple_of(usize::from(self.flush_every))
        };
        if self.seek {
            let target = Cursor::new(Vec::new());
            let mut writer = builder.write_to_file(target).expect("valid");
            for (number, record) in self.records().enumerate() {
                writer.push(record).expect("memory");
                if flushes(number) {
                    writer.flush().expect("memory");
                }
            }
            writer.finish().expect("memory").into_inner()
        } else {
            let mut writer = builder.write_to(Vec::new()).expect("valid");
            for (number, record) in self.records().enumerate() {
                writer.push(record).expect("memory");
                if flushes(number) {
                    writer.flush().expect("memory");
                }
            }
            writer.finish().expect("memory")
        }
    }
}

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

pub fn check(input: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(input)) else {
        return;
    };
    // Very many chunks cost time and show nothing new.
    if case.records().count() > 3000 || case.records().map(<[u8]>::len).sum::<usize>() > 1 << 20 {
        return;
    }
    let file = case.write(1);
    let in_order = RecordReader::new(file.as_slice()).map(|record| record.expect("our own"));
    assert!(in_order.eq(case.records()));
    let by_number = IndexedRecordReader::open(&file).expect("our own");
    assert_eq!(by_number.len(), case.records().count() as u64);
    for (number, record) in case.records().enumerate() {
        assert!(by_number.get(number as u64).expect("our own") == record);
    }
    let threads = usize::from(case.threads % 3) + 1;
    assert!(case.write(threads) == file);
}
