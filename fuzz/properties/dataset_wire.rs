//! Any bytes as the small files of datasets, as a dtype, as the head of a `.npy` file: accepted input is written and
//! read again as the same, and impossible input is refused.

use bloscpack::dtype::DType;
use bloscpack::dtype::NpyHeader;
use bloscpack_open::datasets::wire::proposal::{
    self, SUPERCHUNK_HEADER_LEN, SuperchunkHeader, encode_attributes, encode_shape,
    parse_attributes, parse_shape,
};
use bloscpack_open::datasets::wire::{
    Attributes, Index, RootDirs, Sizes, Storage, StorageStyle, index_digest,
};

fn dtype(text: &str) {
    let Ok(dtype) = DType::parse(text) else {
        return;
    };
    let again = DType::parse(&dtype.to_string()).expect("our own");
    assert_eq!(again, dtype, "{dtype}");
    let again = DType::from_json(&dtype.to_json()).expect("our own");
    assert_eq!(again.itemsize(), dtype.itemsize(), "{dtype}");
    if dtype.itemsize() > 1 << 16 {
        return;
    }
    let mut element = vec![0; dtype.itemsize() as usize];
    let (mut text, _) = (String::new(), dtype.value(&element));
    dtype.write_text(&element, &mut text);
    if dtype.fields().is_none() && !dtype.is_object() {
        dtype.parse_text(&text, &mut element).expect("our own");
    }
}

/// The first byte selects the type, and the rest is an element of it.
fn element(input: &[u8]) {
    const TYPES: [&str; 14] = [
        "<f2",
        ">f4",
        "<f8",
        "<f16",
        "<c16",
        ">i8",
        "u1",
        "?",
        "S7",
        "<U3",
        "<M8[us]",
        "<m8[D]",
        "V5",
        "[('t', '<M8[s]'), ('n', [('x', '>u2'), ('y', '<f4', (2,))])]",
    ];
    let Some((first, rest)) = input.split_first() else {
        return;
    };
    let dtype = DType::parse(TYPES[usize::from(*first) % TYPES.len()]).expect("known");
    let len = dtype.itemsize() as usize;
    if let Some(bytes) = rest.get(..len) {
        let _ = dtype.value(bytes);
        let (mut text, mut again, mut back) = (String::new(), String::new(), vec![0; len]);
        dtype.write_text(bytes, &mut text);
        if dtype.parse_text(&text, &mut back).is_ok() {
            dtype.write_text(&back, &mut again);
            assert_eq!(again, text, "{dtype}");
        }
    }
    if let Ok(text) = std::str::from_utf8(rest) {
        let mut bytes = vec![0; len];
        if dtype.parse_text(text, &mut bytes).is_ok() {
            let mut text = String::new();
            dtype.write_text(&bytes, &mut text);
            let mut back = vec![0; len];
            dtype.parse_text(&text, &mut back).expect("our own");
        }
        if let Ok(value) = serde_json::from_str(text) {
            let _ = dtype.from_value(&value, &mut bytes);
        }
    }
}

fn npy(input: &[u8]) {
    let len = NpyHeader::len_of(input);
    let Ok((header, behind)) = NpyHeader::parse(input) else {
        return;
    };
    assert_eq!(len.ok(), Some(behind));
    assert!(header.content_len().is_some() && behind <= input.len());
    // Fields over one another can be said elsewhere, but not here.
    if let Ok(bytes) = header.encode() {
        let (again, len) = NpyHeader::parse(&bytes).expect("our own");
        assert_eq!(
            (again.shape, again.fortran_order, len),
            (header.shape, header.fortran_order, bytes.len())
        );
        assert_eq!(again.dtype.itemsize(), header.dtype.itemsize());
    }
}

/// Storage, sizes, attributes and columns as JSON.
fn json(input: &[u8]) {
    if let Ok(sizes) = Sizes::parse(input) {
        assert_eq!(Sizes::parse(&sizes.encode()).expect("our own"), sizes);
    }
    if let Ok(dirs) = RootDirs::parse(input) {
        assert_eq!(RootDirs::parse(&dirs.encode()).expect("our own"), dirs);
        for name in &dirs.names {
            assert!(
                !dirs.folder_of(name).contains('/') || dirs.dirs.is_none() || name.contains('/')
            );
        }
    }
    if let Ok(attributes) = Attributes::parse(input) {
        let again = Attributes::parse(&attributes.encode()).expect("our own");
        assert_eq!(again, attributes);
        changed(attributes);
    }
    if let Ok(storage) = Storage::parse(input) {
        for style in [
            StorageStyle::Bcolz,
            StorageStyle::Blz,
            StorageStyle::Document,
        ] {
            if let Ok(file) = storage.encode(style) {
                let again = Storage::parse(&file).expect("our own");
                assert_eq!(
                    (&again.dtype, again.chunk_rows),
                    (&storage.dtype, storage.chunk_rows)
                );
                assert_eq!(again.encode(style).expect("our own"), file);
            }
        }
    }
}

/// The index of an array, whose digest is made to fit, so that everything after it is reached.
fn index(input: &[u8]) {
    let digest = index_digest(input).to_le_bytes();
    let file = [input, &digest].concat();
    if let Ok(index) = Index::parse(&file) {
        assert_eq!(index.encode().expect("our own"), file);
        assert!(index.len() <= input.len() as u64 / 43);
    }
}

/// A key is set and taken away, the others stay.
fn changed(mut attributes: Attributes) {
    let (before, key) = (attributes.to_value(), "of the test \"\u{1}");
    let had = attributes.get(key).is_some();
    if attributes
        .set(key, &serde_json::json!([1, "\u{e9}"]))
        .is_err()
    {
        return;
    }
    assert_eq!(attributes.get(key), Some(serde_json::json!([1, "\u{e9}"])));
    assert!(attributes.remove(key) && attributes.get(key).is_none());
    assert!(had || attributes.to_value() == before);
    for key in attributes.keys().iter().take(20) {
        assert!(attributes.get_text(key).is_some());
    }
}

/// The files of the proposal.
fn yaml(input: &[u8]) {
    if let Ok(shape) = parse_shape(input) {
        assert_eq!(parse_shape(&encode_shape(&shape)).expect("our own"), shape);
    }
    if let Ok(attributes) = parse_attributes(input)
        && let Ok(file) = encode_attributes(&attributes)
    {
        assert_eq!(parse_attributes(&file).expect("our own"), attributes);
    }
    if let Ok(storage) = proposal::Storage::parse(input)
        && let Ok(file) = storage.encode()
    {
        assert_eq!(proposal::Storage::parse(&file).expect("our own"), storage);
        let _ = (storage.elements.leaves(), storage.compression.compressor());
    }
}

/// Heads of superchunks of the proposal.
fn superchunk(input: &[u8]) {
    let (head, rest) = input.split_at(input.len().min(SUPERCHUNK_HEADER_LEN));
    let said = head
        .get(16..24)
        .and_then(|bytes| bytes.try_into().ok())
        .map(u64::from_le_bytes);
    for len in [input.len() as u64, said.unwrap_or(0)] {
        let Ok(header) = SuperchunkHeader::decode(head, len) else {
            continue;
        };
        assert_eq!(header.encode().expect("read before"), head);
        let index = rest.get(..usize::try_from(header.index_len()).unwrap_or(usize::MAX));
        if let Some(bytes) = index
            && let Ok(index) = header.parse_index(bytes)
        {
            assert!(
                index
                    .iter()
                    .all(|at| *at >= header.chunks_begin() && *at < len)
            );
            assert!(index.is_sorted());
            assert_eq!(header.encode_index(&index).expect("read before"), bytes);
        }
    }
}

pub fn check(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input) {
        dtype(text);
    }
    element(input);
    npy(input);
    npy(&[
        b"\x93NUMPY\x01\x00",
        &(input.len() as u16).to_le_bytes()[..],
        input,
    ]
    .concat());
    json(input);
    index(input);
    index(&[b"blpkindx\x01\0\0\0", input].concat());
    yaml(input);
    superchunk(input);
}
