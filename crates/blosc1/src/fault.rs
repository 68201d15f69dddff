//! The category of an error, by who has to act.

/// The category of an error, by who has to act.
///
/// Every error type of the `bloscpack` workspace sorts its variants into these categories. A
/// program can react to the category and leave the details to the message. The exit statuses of the
/// command `blpk` are derived from them.
///
/// | category | who acts | typical reaction |
/// |---|---|---|
/// | [`Damaged`](Self::Damaged) | the owner of the data | restore it, or recover the rest |
/// | [`CutShort`](Self::CutShort) | the owner of the data | fetch the rest |
/// | [`Unsupported`](Self::Unsupported) | the user | use another build, or another library |
/// | [`OverLimit`](Self::OverLimit) | the caller | raise the limit if the input is trusted |
/// | [`Usage`](Self::Usage) | the caller | correct the call |
/// | [`Bug`](Self::Bug) | the maintainers | report it |
///
/// ```
/// use blosc1::Fault;
///
/// let chunk = blosc1::compress(&[7; 1000], Default::default())?;
/// let error = blosc1::decompress(&chunk[..chunk.len() - 1]).unwrap_err();
/// assert_eq!(error.fault(), Fault::CutShort);
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The bytes are not what an encoder wrote: they contradict each other, or do not decode.
    Damaged,
    /// Bytes are missing at the end; those that are present may be sound.
    CutShort,
    /// The bytes may be sound, but this library or this build cannot read them; or it was asked to
    /// write a format that it does not have.
    Unsupported,
    /// A limit on memory or size was exceeded, or an allocation failed. The caller set the limit
    /// and can raise it.
    OverLimit,
    /// The caller passed arguments that cannot be satisfied, whatever the bytes are.
    Usage,
    /// The library broke one of its own invariants and stopped instead of making up a value.
    Bug,
}
