//! Small files of records, in every form.

use crate::records::Records;
use bloscpack::{
    Checksum, Compressor, FormatVersion, Metadata,
    records::{RecordWriter, RecordWriterBuilder},
};
use std::io::Cursor;

pub struct Sample {
    pub name: String,
    pub file: Vec<u8>,
    pub records: Records,
}

/// How a file of records is made.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub layout: FormatVersion,
    /// Bytes of a packed chunk.
    pub packed: Option<u32>,
    /// Into a file that can be sought.
    pub seek: bool,
    pub count_known: bool,
    pub checksum: Checksum,
}

impl Kind {
    /// Every form, with this checksum.
    pub fn all(checksum: Checksum) -> Vec<Self> {
        let mut all = Vec::new();
        for layout in [FormatVersion::V2, FormatVersion::V3] {
            for packed in [None, Some(64)] {
                for (seek, count_known) in
                    [(true, true), (true, false), (false, true), (false, false)]
                {
                    all.push(Self {
                        layout,
                        packed,
                        seek,
                        count_known,
                        checksum,
                    });
                }
            }
        }
        all
    }

    pub fn builder(&self, count: usize) -> RecordWriterBuilder {
        let mut builder = RecordWriter::builder()
            .version(self.layout)
            .checksum(self.checksum)
            .compressor(Compressor::Lz4)
            .max_app_chunks(3)
            .metadata(Metadata::from_json(r#"{"ä":NaN}"#).unwrap());
        if let Some(size) = self.packed {
            builder = builder.packed(size);
        }
        if self.count_known {
            builder = builder.count(count as u64);
        }
        builder
    }

    pub fn write(&self, records: &[Vec<u8>]) -> Vec<u8> {
        let builder = self.builder(records.len());
        if self.seek {
            let mut writer = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
            records.iter().for_each(|one| writer.push(one).unwrap());
            writer.finish().unwrap().into_inner()
        } else {
            let mut writer = builder.write_to(Vec::new()).unwrap();
            records.iter().for_each(|one| writer.push(one).unwrap());
            writer.finish().unwrap()
        }
    }

    pub fn sample(&self, records: Records) -> Sample {
        Sample {
            name: format!("{} records, {self:?}", records.len()),
            file: self.write(&records),
            records,
        }
    }
}

/// A text, nothing, something that compresses, and something that does not.
pub fn few() -> Records {
    let noise = (0..30_u32).map(|i| (i * i * 37 + i * 11) as u8).collect();
    vec![b"varlen".to_vec(), Vec::new(), b"ab".repeat(60), noise]
}

/// Files with some, one and no records.
pub fn samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for kind in Kind::all(Checksum::Crc32) {
        all.push(kind.sample(few()));
        all.push(kind.sample(vec![b"alone".to_vec()]));
        all.push(kind.sample(Vec::new()));
    }
    for kind in Kind::all(Checksum::Sha1) {
        all.push(kind.sample(few()));
    }
    all
}

/// Members of different forms, one after the other.
pub fn concatenated() -> Vec<Sample> {
    let kinds = Kind::all(Checksum::Adler32);
    let pair = |first: &Kind, second: &Kind| {
        let (first, second) = (first.sample(few()), second.sample(few()));
        Sample {
            name: format!("{} + {}", first.name, second.name),
            file: [first.file, second.file].concat(),
            records: [first.records, second.records].concat(),
        }
    };
    let others = kinds.iter().skip(5).step_by(3);
    kinds.iter().zip(others).map(|(a, b)| pair(a, b)).collect()
}
