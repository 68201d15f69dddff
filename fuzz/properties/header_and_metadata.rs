//! Accepted headers and metadata headers are written back byte by byte; accepted JSON keeps its text.

use bloscpack::wire::internal::METADATA_HEADER_LEN;
use bloscpack::wire::{FormatError, Geometry, Header, Metadata, MetadataHeader};

fn header(input: &[u8]) {
    let Ok(needed) = Header::needed(input) else {
        assert!(Header::decode(input).is_err());
        return;
    };
    let decoded = Header::decode(input);
    if input.len() < needed {
        assert!(matches!(decoded, Err(FormatError::TornHeader { .. })));
        return;
    }
    let Ok(header) = decoded else { return };
    header.check().expect("checked when decoded");
    let len = header.version.header_len();
    match header.encode() {
        Ok(bytes) => assert_eq!(bytes, input[..len], "{header:?}"),
        Err(error) => assert!(matches!(error, FormatError::ReadOnly { .. }), "{error:?}"),
    }
    if let Ok(geometry) = Geometry::of(&header, 1000) {
        assert!(geometry.metadata_at as usize == len);
        assert!(geometry.table_at == geometry.metadata_at + 1000);
        assert!(geometry.chunks_at >= geometry.table_at);
    }
}

fn metadata_header(input: &[u8]) {
    let Some(bytes) = input.first_chunk::<METADATA_HEADER_LEN>() else {
        return;
    };
    if let Ok(header) = MetadataHeader::decode(bytes) {
        assert_eq!(header.encode(), *bytes);
        assert!(header.section_len() >= 32 + u64::from(header.stored_size));
    }
}

pub fn check(input: &[u8]) {
    header(input);
    metadata_header(input);
    metadata_header(input.get(32..).unwrap_or_default());
    for text in [input, input.get(64..).unwrap_or_default()] {
        if let Ok(metadata) = Metadata::from_json(text) {
            assert_eq!(metadata.text().as_bytes(), text);
            let again = Metadata::from(metadata.value().clone());
            let back = Metadata::from_json(again.text()).expect("JSON");
            assert_eq!(back.value(), metadata.value());
        }
    }
}
