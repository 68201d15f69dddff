//! [`IndexedRecordReaderBuilder`]: the options of a reader of records by number.

use crate::engine::Warning;
use crate::indexed::Index;
use bloscpack_error::Result;
use bloscpack_storage::ReadAt;
use bloscpack_wire::{Form, FormatError, Hashers, Limits};

/// Bytes of unpacked chunks that are kept by default.
const CACHE: usize = 64 << 20;

/// Options of an [`IndexedRecordReader`](super::IndexedRecordReader); created by
/// [`IndexedRecordReader::builder`](super::IndexedRecordReader::builder).
///
/// ```
/// use bloscpack::records::{IndexedRecordReader, RecordWriter};
/// let mut writer = RecordWriter::builder().quick().write_to(Vec::new())?;
/// for number in 0..1000_u32 {
///     writer.push(number.to_le_bytes())?;
/// }
/// // Without a cache, every call unpacks the chunk of its record again.
/// let records = IndexedRecordReader::builder().cache(0).open(writer.finish()?)?;
/// assert_eq!(records.get(999)?, 999_u32.to_le_bytes().as_slice());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct IndexedRecordReaderBuilder {
    pub(super) limits: Limits,
    pub(super) hashers: Hashers,
    pub(super) cache: usize,
    allow_unterminated: bool,
}

impl Default for IndexedRecordReaderBuilder {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            hashers: Hashers::default(),
            cache: CACHE,
            allow_unterminated: false,
        }
    }
}

impl IndexedRecordReaderBuilder {
    /// How much memory and work the input may demand.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The implementations that compute digests.
    #[must_use]
    pub fn hashers(mut self, hashers: Hashers) -> Self {
        self.hashers = hashers;
        self
    }

    /// Bytes of unpacked chunks to keep: 64 MiB by default; 0 keeps none. Records that are chunks of their own are not
    /// kept.
    #[must_use]
    pub fn cache(mut self, bytes: usize) -> Self {
        self.cache = bytes;
        self
    }

    /// Accepts input that its writer did not finish, as
    /// [`DecoderBuilder::allow_unterminated`](crate::DecoderBuilder::allow_unterminated).
    #[must_use]
    pub fn allow_unterminated(mut self, allow: bool) -> Self {
        self.allow_unterminated = allow;
        self
    }

    /// The index of a source, by these options.
    pub(super) fn index<S: ReadAt>(&self, source: &S, known: Option<&Index>) -> Result<Index> {
        let (limits, hashers) = (&self.limits, &self.hashers);
        Index::of_records(source, limits, hashers, self.allow_unterminated, known)
    }
}

/// The form of all chunks.
pub(super) fn common_form(index: &Index) -> Result<Form> {
    let (mut common, mut before) = (None, 0);
    for (chunks_end, form) in index.forms() {
        let form = form.clone()?;
        form.check_records()?;
        if let Form::Records { count } = form {
            check_count(index, count, chunks_end - before)?;
        }
        before = chunks_end;
        let is_first = common.is_none();
        let found = *common.get_or_insert(form);
        let is_packed = |form: Form| matches!(form, Form::Packed { .. });
        if !is_first && (is_packed(found) || is_packed(form)) {
            let what = "packed records of several members can only be read in order; unpack and pack them into one member";
            let what = what.to_owned();
            return Err(FormatError::Unsupported { what }.into());
        }
    }
    common.ok_or_else(|| FormatError::Empty.into())
}

/// Compares a number of records with the metadata, unless some are allowed to be missing.
pub(super) fn check_count(index: &Index, count: Option<u64>, found: u64) -> Result<()> {
    let is_cut = |warning: &Warning| matches!(warning, Warning::Unended(_));
    match count {
        Some(count) if count != found && !index.warnings.iter().any(is_cut) => {
            Err(FormatError::record_count(count, found).into())
        }
        _ => Ok(()),
    }
}
