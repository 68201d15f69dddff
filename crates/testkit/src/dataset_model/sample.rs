//! Dtypes, and elements of them.

use super::choices::Choices;
use bloscpack::dtype::DType;
use bloscpack::dtype::Kind;
use bloscpack::{Compressor, Filter};
use bloscpack_open::datasets::DatasetLayout;

/// Dtypes of every kind and both byte orders, some with elements larger than the maximum typesize.
pub const DTYPES: [&str; 30] = [
    "int32",
    "int8",
    "uint8",
    "float64",
    "int64",
    "bool",
    ">i2",
    "uint16",
    "int16",
    ">i4",
    "uint32",
    "uint64",
    "float16",
    "float32",
    ">f8",
    "complex64",
    "complex128",
    "|S1",
    "|S7",
    "|S300",
    "<U3",
    ">U5",
    "datetime64[ns]",
    "datetime64[D]",
    "timedelta64[ns]",
    "|V3",
    "|V260",
    "[('a', '<i4'), ('b', '<f8'), ('c', '<u2')]",
    "[('a', 'S3'), ('b', '>i2'), ('c', '<U2')]",
    "[('a', 'V200'), ('b', '<i8', (9,))]",
];

pub fn dtype(choices: &mut Choices<'_>) -> DType {
    DType::parse(choices.pick(&DTYPES)).unwrap()
}

/// An element that is usually not zero.
pub fn element(dtype: &DType, choices: &mut Choices<'_>) -> Vec<u8> {
    let len = dtype.itemsize() as usize;
    let mut element = vec![0; len];
    match dtype.kind() {
        Kind::Bool => element.fill(choices.byte() & 1),
        Kind::Float => {
            let text = choices.pick(&["1.5", "nan", "inf", "-inf", "-0.25"]);
            dtype.parse_text(text, &mut element).unwrap();
        }
        Kind::Complex => dtype.parse_text("1.5-2.0j", &mut element).unwrap(),
        Kind::Bytes => element[..len.min(2)].copy_from_slice(&b"z\""[..len.min(2)]),
        Kind::Text => dtype
            .from_value(&"\u{e9}\u{20ac}".into(), &mut element)
            .unwrap(),
        Kind::Struct(of) => {
            for field in &of.fields {
                let size = field.dtype.itemsize() as usize;
                let count = field.shape.iter().product::<u64>() as usize;
                for at in (0..count).map(|number| field.offset as usize + number * size) {
                    let inside = self::element(&field.dtype, choices);
                    element[at..at + size].copy_from_slice(&inside);
                }
            }
        }
        _ => element = data(len, choices.byte() & 0xfc | 2),
    }
    element
}

/// Some rows that may or may not compress well.
pub fn data(len: usize, seed: u8) -> Vec<u8> {
    let mut state = u32::from(seed).wrapping_mul(0x9E37_79B9) | 1;
    let mut next = |at: usize| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        match seed % 4 {
            0 => state as u8,
            1 => seed,
            2 => (at / 3) as u8 ^ seed,
            _ => (state.is_multiple_of(7)).into(),
        }
    };
    (0..len).map(&mut next).collect()
}

/// A compressor, a filter and a level allowed in a layout.
pub fn press(layout: DatasetLayout, choices: &mut Choices<'_>) -> (Compressor, Filter, u8) {
    let is_old = layout == DatasetLayout::Blz;
    let compressors: &[Compressor] = match layout {
        DatasetLayout::Blz => &[Compressor::Lz4, Compressor::Blosclz, Compressor::Zlib],
        DatasetLayout::Bcolz => &[
            Compressor::Lz4,
            Compressor::Blosclz,
            Compressor::Zlib,
            Compressor::Zstd,
        ],
        _ => &[
            Compressor::Lz4,
            Compressor::Blosclz,
            Compressor::Zlib,
            Compressor::Zstd,
            Compressor::Snappy,
        ],
    };
    let filters: &[Filter] = if is_old {
        &[Filter::Byte, Filter::None]
    } else {
        &[Filter::Byte, Filter::None, Filter::Bit]
    };
    let level = choices.pick(&[5, 1, 9, 0]);
    (choices.pick(compressors), choices.pick(filters), level)
}

/// A value of an attribute.
pub fn value(choices: &mut Choices<'_>) -> serde_json::Value {
    let number = i64::from(choices.byte()) - 100;
    match choices.below(6) {
        0 => serde_json::json!(number),
        1 => serde_json::json!({"lat": 40.1, "in": [number, null, true]}),
        2 => serde_json::json!("temp\u{e9}rature \"\u{1f600}\"\n\\"),
        3 => serde_json::json!(number as f64 / 8.0),
        4 => serde_json::json!("x".repeat(number.unsigned_abs() as usize)),
        _ => serde_json::json!([[], [1, [2.5]], ""]),
    }
}

pub const KEYS: [&str; 4] = ["temp", "unit", "k\u{e9}y", "with \"quotes\""];
