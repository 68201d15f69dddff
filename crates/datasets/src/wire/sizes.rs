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

/// The content of `meta/sizes`. Readers only need the shape; the other two numbers are for people.
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
    /// The number of rows, then the shape of a row. This alone decides how much is read.
    pub shape: Vec<u64>,
    /// Uncompressed bytes; 0 where the file does not say.
    pub nbytes: i64,
    /// Compressed bytes, counted as [`counted_bytes`] does when the file was new. Real files contain wrong and negative
    /// counts; 0 where the file does not say.
    pub cbytes: i64,
}

impl Sizes {
    /// Parses the file. The order of the keys does not matter.
    ///
    /// # Errors
    /// Returns an error if the file is not a JSON object, has no shape, or a shape that is not a list of integers.
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

    /// The shape of a row; empty where a row is one element.
    #[must_use]
    pub fn row_shape(&self) -> &[u64] {
        self.shape.split_first().map_or(&[], |(_, row)| row)
    }

    /// The file, as every writer since carray has spelled it.
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

/// The bytes that a writer counts for each chunk in addition to the compressed ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChunkOverhead {
    /// Nothing: bcolz from 1.1 on.
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

/// The `cbytes` that writers give: the `ctbytes` of the full chunks, and one last chunk uncompressed, which is counted
/// even where there is none. A sum over `i64::MAX` is given as `i64::MAX`.
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
    // Saturating, since the count is for people and never read for anything.
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
