//! With any options, data is read back unchanged, and any threads and writes give the same bytes.

use arbitrary::{Arbitrary, Unstructured};
use bloscpack::{
    Checksum, Compressor, Encoder, EncoderBuilder, Filter, FormatVersion, Metadata, decompress,
};
use std::io::{Cursor, Write};

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    compressor: u8,
    level: u8,
    filter: u8,
    typesize: u8,
    chunk_size: u16,
    checksum: u8,
    layout: u8,
    offsets: bool,
    spare: Option<u8>,
    metadata: Option<&'a str>,
    size_known: bool,
    seek: bool,
    threads: u8,
    piece: u8,
    data: &'a [u8],
}

impl Case<'_> {
    fn builder(&self) -> EncoderBuilder {
        let layout = [
            FormatVersion::V1,
            FormatVersion::V2,
            FormatVersion::V3,
            FormatVersion::V3,
        ][usize::from(self.layout % 4)];
        let mut builder = Encoder::builder()
            .compressor(Compressor::ALL[usize::from(self.compressor % 6)])
            .level(self.level % 10)
            .filter(Filter::ALL[usize::from(self.filter % 3)])
            .typesize(self.typesize.max(1))
            .chunk_size(u32::from(self.chunk_size).max(1))
            .version(layout)
            .offsets(self.offsets);
        if layout != FormatVersion::V1 {
            builder = builder.checksum(Checksum::ALL[usize::from(self.checksum % 9)]);
            if let Some(text) = self.metadata {
                builder = builder
                    .metadata(Metadata::from_json(format!("{text:?}")).unwrap_or_else(|_| plain()));
            }
        }
        if let Some(spare) = self.spare {
            builder = builder.max_app_chunks(spare.into());
        }
        if self.size_known || (layout == FormatVersion::V1 && !self.seek) {
            builder = builder.size(self.data.len() as u64);
        }
        builder
    }

    fn encode(&self, threads: usize, piece: usize) -> Vec<u8> {
        let builder = self.builder().threads(threads);
        let pieces = self.data.chunks(piece);
        if self.seek {
            let mut encoder = builder
                .write_to_file(Cursor::new(Vec::new()))
                .expect("valid");
            pieces.for_each(|piece| encoder.write_all(piece).expect("memory"));
            encoder.finish().expect("memory").into_inner()
        } else {
            let mut encoder = builder.write_to(Vec::new()).expect("valid");
            pieces.for_each(|piece| encoder.write_all(piece).expect("memory"));
            encoder.finish().expect("memory")
        }
    }
}

fn plain() -> Metadata {
    Metadata::from_json("{}").expect("JSON")
}

pub fn check(input: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(input)) else {
        return;
    };
    // Very many chunks cost time and show nothing new.
    if case.data.len() / usize::from(case.chunk_size).max(1) > 200 {
        return;
    }
    let file = case.encode(1, usize::MAX);
    assert!(decompress(&file).expect("our own") == case.data);
    let threads = usize::from(case.threads % 3) + 1;
    let piece = usize::from(case.piece) + 1;
    assert!(case.encode(threads, piece) == file);
}
