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
        let schema = if is_table {
Schema::table(columns)
} else {
contents.truncate(1);
                Schema::array(columns[0].dtype.clone(), &columns[0].row_shape)
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

/// Cells that types of numbers, times and truth values all but hold.
#[cfg(feature = "csv")]
const CELLS: [&str; 56] = [
    "",
    " ",
    "NA",
    " NA",
    "0",
    "-0",
    "1",
    " 1",
    "1 ",
    "+1",
    "-1",
    "01",
    "007",
    "-007",
    "+007",
    "1.",
    ".5",
    "1.50",
    "+1.5",
    "00.5",
    "-1.5e-7",
    "1e5",
    "1E+05",
    "1e400",
    "1e-400",
    "5e-324",
    "1.7976931348623157e308",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    " 9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551615 ",
    "18446744073709551616",
    "123456789012345678901234567890",
    "0.30000000000000004",
    "0.1234567890123456789",
    "12345678901234567000",
    "nan",
    "inf",
    "-inf",
    "true",
    " true",
    "False",
    "TRUE",
    "2016-01-04",
    " 2016-01-04",
    "2016-01-04T14:31:00.25",
    "2016-01-04T14:31:00.1234567890123",
    "20160104",
    "0301234567",
    "+4930123456",
    "x",
    " x ",
    "-0301234567",
];

/// The number that a text is: whether it is negative, its digits without zeros on either side, and the exponent of the first.
#[cfg(feature = "csv")]
fn decimal(text: &str) -> Option<(bool, String, i64)> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = all.trim_start_matches('0');
    let len = |digits: &str| i64::try_from(digits.len()).ok();
    let first = len(whole)? - (len(&all)? - len(digits)?);
    match digits.trim_end_matches('0') {
        "" => Some((false, String::new(), 0)),
        digits => Some((
            negative,
            digits.to_owned(),
            first + exponent.parse::<i64>().ok()?,
        )),
    }
}

/// A time without what says nothing: the `T`, and zeros at its end.
#[cfg(feature = "csv")]
fn time(text: &str) -> Option<String> {
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
    let time = time.trim_end_matches(['0', '.', ':']);
    (date.len() == 10 && date.as_bytes()[4] == b'-').then(|| format!("{date} {time}"))
}

#[cfg(feature = "csv")]
proptest! {
    #![proptest_config(ProptestConfig { cases: testkit::effort::models(2000), failure_persistence: None, ..ProptestConfig::default() })]

    /// A column of any cells comes out of CSV with the same text, but for blanks around numbers, times and truth values, and
    /// with the same number or time however it is spelled. A number that begins with a zero or a plus sign keeps it.
    #[test]
    fn no_guess_loses_a_digit(chosen in prop::collection::vec(0..CELLS.len(), 1..5)) {
        use super::opened;
        use bloscpack_exchange::{Format, ImportOptions};
        let cells: Vec<&str> = chosen.iter().map(|number| CELLS[*number]).collect();
        let file = format!("n,x\n{}\n", cells.iter().map(|cell| format!("{cell},")).collect::<Vec<_>>().join("\n"));
        let mut source = opened(file.as_bytes(), Format::Csv, &ImportOptions::new()).unwrap();
        let held = match Held::of(&mut *source, 200) {
            Ok(held) => held,
            Err(error) => {
                // Whole numbers that no float holds, and gaps among them.
                prop_assert!(error.to_string().contains("missing"), "{:?}: {}", cells, error);
                return Ok(());
            }
        };
        for (cell, back) in cells.iter().zip(held.texts("n")) {
            let plain = cell.trim();
            let is_name = plain.starts_with("0") && plain.len() > 1 && plain.as_bytes()[1] != b'.'
                || plain.starts_with('+') && !plain.contains('.')
                || plain.starts_with("-0") && plain.len() > 2;
            let same = *cell == back
                || (plain.is_empty() || plain == "NA") && (back.is_empty() || back == "nan")
                || plain.eq_ignore_ascii_case(&back)
                || !is_name && decimal(plain).is_some_and(|number| Some(number) == decimal(&back))
                || time(plain).is_some_and(|moment| Some(moment) == time(&back));
            prop_assert!(same, "{:?} ({}): {:?} became {:?}", cells, held.schema.columns[0].dtype, cell, back);
        }
    }
}
