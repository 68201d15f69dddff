//! `meta/sizes`: how many rows there are.
//!
//! ```text
//! {"shape": [1000], "nbytes": 8000, "cbytes": 3251}
//! ```

use super::error::MetaError;
use super::object::Object;
use super::python_json::write_list;
use std::fmt::Write as _;

/// A shape longer than this would be none.
const MAX_LEN: usize = 1 << 20;

/// What `meta/sizes` says. Only the shape means anything; the other two are for people.
///
/// ```
/// use bloscpack_datasets::wire::Sizes;
/// let text = b"{\"shape\": [1000, 3], \"nbytes\": 24000, \"cbytes\": -652}\n";
/// let sizes = Sizes::parse(text)?;
/// assert_eq!((sizes.rows(), sizes.row_shape()), (1000, &[3][..]));
/// assert_eq!(sizes.encode(), text);
/// # Ok::<(), bloscpack_datasets::wire::MetaError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes {
    /// Rows first, then the shape of a row. This alone decides how much is read.
    pub shape: Vec<u64>,
    /// Uncompressed bytes; 0 where the file does not say.
    pub nbytes: i64,
    /// What [`counted_bytes`] gives, when the file was new. Real files have wrong and negative ones; 0
    /// where the file does not say.
    pub cbytes: i64,
}

impl Sizes {
    /// Parses the file; the order of the keys means nothing.
    ///
    /// # Errors
    /// It is not a JSON object, or has no shape, or one that is no list of whole numbers.
    pub fn parse(file: &[u8]) -> Result<Self, MetaError> {
        let object = Object::parse(file, MAX_LEN)?;
        let field = object.need("shape")?;
        let shape: Vec<u64> = serde_json::from_str(field.text)
            .map_err(|_| field.wrong("a list of whole numbers, 0 or more each"))?;
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

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(0)
    }

    /// The shape of a row; empty where a row is one element.
    #[must_use]
    pub fn row_shape(&self) -> &[u64] {
        self.shape.get(1..).unwrap_or_default()
    }

    /// The file, as every writer since carray has spelled it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut text = "{\"shape\": ".to_owned();
        // Writing to a string never fails.
        write_list(&mut text, &self.shape, |text, axis| {
            let _ = write!(text, "{axis}");
        });
        let Self { nbytes, cbytes, .. } = self;
        let _ = writeln!(text, ", \"nbytes\": {nbytes}, \"cbytes\": {cbytes}}}");
        text.into_bytes()
    }
}

/// What a writer counts for each chunk beside its compressed bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChunkOverhead {
    /// Nothing: bcolz from 1.1.
    None,
    /// 128 bytes: carray, BLZ, and bcolz up to 1.0.
    Header,
}

/// The `cbytes` that writers give: the `ctbytes` of the full chunks, and one last chunk uncompressed,
/// which is counted even where there is none.
///
/// ```
/// use bloscpack_datasets::{wire::ChunkOverhead, wire::counted_bytes};
/// // What bcolz writes for an empty array of float64 in chunks of 2048 rows.
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
    let each: u64 = match overhead {
        ChunkOverhead::None => 0,
        ChunkOverhead::Header => 128,
    };
    let last = chunk_rows.saturating_mul(row_bytes);
    let sum = full_chunks.into_iter().fold(last, |sum, ctbytes| {
        sum.saturating_add(ctbytes).saturating_add(each)
    });
    i64::try_from(sum).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::Sizes;
    use blosc1::Fault;

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
    fn sizes_that_nobody_needs_may_be_missing_or_negative() {
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
            assert_eq!(error.fault(), Fault::Damaged, "{shape}");
            assert!(error.to_string().contains("line 1, column 11"), "{error}");
        }
        let error = Sizes::parse(br#"{"nbytes": 1}"#).unwrap_err().to_string();
        assert_eq!(error, r#""shape" is missing; the keys are "nbytes""#);
    }
}
