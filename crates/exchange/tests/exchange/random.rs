//! Tests of elements of every type, with any bytes, through every format and back.

use super::{Held, available, check_round};
use bloscpack_dtype::DType;
use bloscpack_error::Category;
use bloscpack_exchange::{Column, Schema};
use proptest::prelude::*;

const TYPES: [&str; 44] = [
    "bool",
    "i1",
    "<i2",
    ">i2",
    "<i4",
    ">i4",
    "<i8",
    ">i8",
    "u1",
    "<u2",
    ">u2",
    "<u4",
    ">u4",
    "<u8",
    ">u8",
    "<f2",
    ">f2",
    "<f4",
    ">f4",
    "<f8",
    ">f8",
    "<c8",
    ">c8",
    "<c16",
    ">c16",
    "S1",
    "S7",
    "<U1",
    "<U3",
    ">U3",
    "V1",
    "V5",
    "datetime64[ns]",
    "datetime64[us]",
    "datetime64[ms]",
    "datetime64[s]",
    "datetime64[D]",
    "datetime64[h]",
    "datetime64[25s]",
    "datetime64",
    "timedelta64[ns]",
    "timedelta64[D]",
    "[('a', '<i4'), ('b', '>f8'), ('c', 'S3', (2,))]",
    "[('t', '<M8[s]'), ('n', [('x', '>u2'), ('y', '?')])]",
];

fn shapes() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![
        3 => Just(vec![]),
        1 => Just(vec![3]),
        1 => Just(vec![2, 2]),
    ]
}

/// Bytes that are elements: numbers that are characters, truth that is 0 or 1.
fn tame(dtype: &DType, text: &str, bytes: &mut [u8]) {
    if text.contains('U') {
        let big = dtype.is_big();
        for code in bytes.chunks_exact_mut(4) {
            // Characters of every kind, with zeros and characters beyond 16 bits, but no surrogates.
            let number = u32::from(code[0]) * 251 + u32::from(code[1] & 1) * 0x1_0000;
            let number = if (0xd800..0xe000).contains(&number) {
                0
            } else {
                number
            };
            let number = if code[2] & 3 == 0 { 0 } else { number };
            code.copy_from_slice(&if big {
                number.to_be_bytes()
            } else {
                number.to_le_bytes()
            });
        }
    }
    if text == "bool" {
        bytes.iter_mut().for_each(|byte| *byte &= 1);
    }
    // Years of four digits, near enough for all.
    if text.contains("datetime64") || text.contains("M8") {
        let size = dtype.itemsize() as usize;
        for element in bytes.chunks_exact_mut(size) {
            if element[7] != 0x80 {
                element[2..8].fill(0);
            } else {
                element[..7].fill(0);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testkit::effort::models(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn columns_come_back(
        chosen in prop::collection::vec((0..TYPES.len(), shapes()), 1..5),
        rows in 0u64..40,
        seed in any::<u64>(),
        is_table in any::<bool>(),
    ) {
        let (mut columns, mut contents) = (Vec::new(), Vec::new());
        let mut state = seed | 1;
        for (index, (which, shape)) in chosen.iter().enumerate() {
            let dtype = DType::parse(TYPES[*which]).unwrap();
            let mut column = Column::new(format!("c{index}"), dtype);
            column.row_shape.clone_from(shape);
            let mut bytes = vec![0; (rows * column.row_bytes()) as usize];
            for byte in &mut bytes {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                *byte = (state >> 32) as u8;
            }
            tame(&column.dtype, TYPES[*which], &mut bytes);
            columns.push(column);
            contents.push(bytes);
        }
        let schema = match is_table {
            true => Schema::table(columns),
            false => {
                contents.truncate(1);
                Schema::array(columns[0].dtype.clone(), &columns[0].row_shape)
            }
        };
        let held = Held::new(schema, rows, contents);
        for format in available() {
            if let Err(error) = check_round(&held, format) {
                // Only what a format has no place for.
                prop_assert_eq!(error.category(), Category::Usage, "{}: {}", format, error);
                prop_assert!(error.to_string().contains("no place"), "{}: {}", format, error);
            }
        }
    }
}
