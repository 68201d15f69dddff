//! `meta/sizes`: the number of rows.
//!
//! ```text
//! {"shape": [1000], "nbytes": 8000, "cbytes": 3251}
//! ```

use bloscpack_array::json::Object;
use bloscpack_array::json::python_json;
use bloscpack_error::Result;
use serde_json::json;

/// Bytes of the longest file. No shape is longer.
const MAX_LEN: usize = 1 << 20;

/// The content of `meta/sizes`. Readers need the shape only; the other two numbers are informative.
///
/// ```
/// use bloscpack_datasets::wire::Sizes;
/// let text = b"{\"shape\": [1000, 3], \"nbytes\": 24000, \"cbytes\": -652}\n";
/// let sizes = Sizes::parse(text)?;
/// assert_eq!((sizes.rows(), sizes.row_shape()), (1000, &[3][..]));
/// assert_eq!(sizes.encode(), text);
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes {
    /// The number of rows, followed by the shape of a row.
    pub shape: Vec<u64>,
    /// Uncompressed bytes; 0 if the file does not contain them.
    pub nbytes: i64,
    /// Compressed bytes, counted as by [`counted_bytes`] in a new file; 0 if the file does not contain them. Real files contain
    /// wrong and negative counts.
    pub cbytes: i64,
}

impl Sizes {
    /// Parses the file, up to 1 MiB. The order of the keys does not matter, and unknown keys are ignored. The shape is not
    /// compared with the other numbers.
    ///
    /// # Errors
    /// Returns an error if the file is not a JSON object, if the shape is missing, empty or not a list of non-negative
    /// integers, or if another number is not an integer.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let object = Object::parse(file, MAX_LEN)?;
        let field = object.need("shape")?;
        let shape: Vec<u64> = serde_json::from_str(field.text)
            .map_err(|_| field.wrong("a list of integers, each 0 or more"))?;
        if shape.is_empty() {
            return Err(field.wrong("a list that begins with the number of rows"));
        }
        let size = |name| object.find(name).map_or(Ok(0), |field| field.signed());
        Ok(Self {
            shape,
            nbytes: size("nbytes")?,
            cbytes: size("cbytes")?,
        })
    }

    /// The number of rows; 0 if the shape is empty.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(0)
    }

    /// The shape of a row; empty if a row is one element.
    #[must_use]
    pub fn row_shape(&self) -> &[u64] {
        self.shape.split_first().map_or(&[], |(_, row)| row)
    }

    /// The bytes of the file, exactly as carray, bcolz and BLZ write them.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let Self {
            shape,
            nbytes,
            cbytes,
        } = self;
        let object = json!({"shape": shape, "nbytes": nbytes, "cbytes": cbytes});
        (python_json(&object) + "\n").into_bytes()
    }
}

/// The bytes that a writer adds to `cbytes` for each chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChunkOverhead {
    /// Nothing: bcolz from 1.1.
    None,
    /// 128 bytes: carray, BLZ, and bcolz up to 1.0.
    Header,
}

impl ChunkOverhead {
    /// The number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Header => 128,
        }
    }
}

/// The `cbytes` that writers store: the compressed bytes (`ctbytes`) of the full chunks, and one uncompressed last chunk, which
/// is counted even if there is none. Saturates at `i64::MAX`.
///
/// ```
/// use bloscpack_datasets::{wire::ChunkOverhead, wire::counted_bytes};
/// // The count of bcolz for an empty array of float64 in chunks of 2048 rows.
/// assert_eq!(counted_bytes([], 2048, 8, ChunkOverhead::None), 16384);
/// assert_eq!(counted_bytes([1000, 900], 256, 8, ChunkOverhead::Header), 4204);
/// ```
#[must_use]
pub fn counted_bytes(
    full_chunks: impl IntoIterator<Item = u64>,
    chunk_rows: u64,
    row_bytes: u64,
    overhead: ChunkOverhead,
) -> i64 {
    // The count is informative only, and saturates.
    let last = chunk_rows.saturating_mul(row_bytes);
    let sum = full_chunks.into_iter().fold(last, |sum, ctbytes| {
        sum.saturating_add(ctbytes)
            .saturating_add(overhead.bytes().into())
    });
    0i64.saturating_add_unsigned(sum)
}

#[cfg(test)]
mod tests {
    use super::Sizes;
    use bloscpack_error::Category;

    fn parsed(text: &str) -> Sizes {
        Sizes::parse(text.as_bytes()).unwrap()
    }

    /// The examples of the bcolz and BLZ documents.
    #[test]
    fn documents_examples_are_read() {
        let sizes = parsed(r#"{"shape": [100000], "nbytes": 400000, "cbytes": 266904}"#);
        assert_eq!(
            (sizes.shape, sizes.nbytes, sizes.cbytes),
            (vec![100_000], 400_000, 266_904)
        );
        let sizes = parsed(r#"{"shape": [10000000], "nbytes": 80000000, "cbytes": 17316745}"#);
        assert_eq!((sizes.rows(), sizes.nbytes), (10_000_000, 80_000_000));
    }

    #[test]
    fn order_of_keys_means_nothing() {
        let expected = parsed(r#"{"shape": [5, 2], "nbytes": 80, "cbytes": 16384}"#);
        for text in [
            r#"{"shape": [5, 2], "cbytes": 16384, "nbytes": 80}"#,
            r#"{"nbytes": 80, "shape": [5, 2], "cbytes": 16384}"#,
        ] {
            assert_eq!(parsed(text), expected);
        }
    }

    #[test]
    fn sizes_for_people_may_be_missing_or_negative() {
        assert_eq!(
            parsed(r#"{"shape": [0]}"#),
            Sizes {
                shape: vec![0],
                nbytes: 0,
                cbytes: 0
            }
        );
        assert_eq!(
            parsed(r#"{"shape": [7], "nbytes": 56, "cbytes": -652}"#).cbytes,
            -652
        );
    }

    #[test]
    fn shapes_that_cannot_be_are_refused() {
        for shape in [
            "[-1]",
            "[1.5]",
            "[]",
            "5",
            "null",
            "[null]",
            "[18446744073709551616]",
            "[[1]]",
            "[NaN]",
        ] {
            let text = format!("{{\"shape\": {shape}, \"nbytes\": 1, \"cbytes\": 1}}");
            let error = Sizes::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.category(), Category::Damaged, "{shape}");
            assert!(error.to_string().contains("line 1, column 11"), "{error}");
        }
        let error = Sizes::parse(br#"{"nbytes": 1}"#).unwrap_err().to_string();
        assert_eq!(error, r#""shape" is missing (found: "nbytes")"#);
    }
}
