//! [`RecordReader`]: records in order, from a stream or a file.

use super::typed::{FromRecord, value_of_record};
use crate::Options;
use crate::engine::{Engine, Piece, Settings, Wanted, Warning};
use bloscpack_error::checked::{in_memory, slice, to_usize};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{ReadAt, SourceReader};
use bloscpack_wire::{
    Form, FormatError, Header, Metadata, PackHead, ParseError, Position, Section,
};
use bytes::Bytes;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

/// Reads the records of a Bloscpack input in order: from a pipe, a socket or a file, with any number of concatenated members,
/// packed or not.
///
/// It delivers a record only after the digest of its chunk has been checked, and everything that a writer has flushed before
/// it waits for more input.
///
/// | need | call |
/// |---|---|
/// | each record for a moment | [`next_record`](Self::next_record): a slice, valid until the next call |
/// | records to keep | the [`Iterator`]: each record is [`Bytes`], which keep the memory of their whole chunk |
/// | values | [`next_as`](Self::next_as) |
///
/// Records are numbered from 0, over all members. Memory is as for a [`Decoder`](crate::Decoder), and for one whole record.
///
/// ```
/// use bloscpack::records::{RecordReader, RecordWriter};
/// let mut writer = RecordWriter::new(Vec::new())?;
/// for line in ["to", "be", "or not"] {
///     writer.push(line)?;
/// }
/// let stream = writer.finish()?;
///
/// let mut reader = RecordReader::new(stream.as_slice());
/// let mut longest = 0;
/// while let Some(record) = reader.next_record()? {
///     longest = longest.max(record.len());
/// }
/// assert_eq!((reader.records(), longest), (3, 6));
/// # Ok::<(), bloscpack::Error>(())
/// ```
pub struct RecordReader<R> {
    pub(crate) engine: Engine<R>,
    /// The chunk whose pieces arrive.
    gathering: Option<GatheredChunk>,
    open: Option<OpenChunk>,
    /// The record that `next_record` has lent, unless it lies in the open chunk.
    current: Bytes,
    /// The member whose records are being read, and the form of its chunks.
    member: u64,
    form: Option<Form>,
    /// The number of the next record in its member, and the number of records in the members before it.
    next: u64,
    before: u64,
    /// The error of a chunk that could not be decoded. It is final.
    damage: Option<ParseError>,
    has_failed: bool,
}

/// A chunk, or its pieces so far.
struct GatheredChunk {
    /// `None` if the chunk is a single record.
    head: Option<PackHead>,
    /// The first `len` bytes are the content.
    content: Vec<u8>,
    len: usize,
    is_whole: bool,
    position: Position,
}

/// A packed chunk whose records are being delivered.
struct OpenChunk {
    content: Bytes,
    head: PackHead,
    /// Records delivered.
    taken: u32,
    /// Where the next record begins.
    at: usize,
}

impl OpenChunk {
    /// Where the next record lies in the content; `None` after the last.
    ///
    /// # Errors
    /// Returns a bug if the lengths of the records, which were checked before, do not fit the content.
    #[inline]
    fn next(&mut self) -> Result<Option<Range<usize>>> {
        let Some(length) = self.head.length(&self.content, self.taken) else {
            return match (self.taken, self.head.count) {
                (taken, count) if taken == count => Ok(None),
                (taken, count) => Err(Error::bug(format!("{taken} lengths of {count} records"))),
            };
        };
        let end = self.at + to_usize(length);
        if end > self.content.len() {
            let (at, len) = (self.at, self.content.len());
            return Err(Error::bug(format!(
                "a record at {at} to {end} of {len} bytes"
            )));
        }
        let record = self.at..end;
        self.taken += 1;
        self.at = end;
        Ok(Some(record))
    }
}

impl<S: ReadAt + 'static> RecordReader<SourceReader<Arc<S>>> {
    /// Creates a reader of a source that can be read at any position, whose threads also read it: faster than
    /// [`with_options`](RecordReader::with_options) for a file.
    ///
    /// ```
    /// use bloscpack::{Options, records::{RecordReader, RecordWriter}};
    /// use std::sync::Arc;
    /// let mut writer = RecordWriter::builder().write_to(Vec::new())?;
    /// writer.push("a record")?;
    /// let file = Arc::new(writer.finish()?);
    /// let mut reader = RecordReader::from_source(file, Options::new().threads(2))?;
    /// assert_eq!(reader.next_record()?, Some(&b"a record"[..]));
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns any error of asking the source for its size.
    pub fn from_source(source: Arc<S>, options: Options) -> Result<Self> {
        let settings = Settings::new(Wanted::Records, options);
        Ok(Self::with_engine(Engine::at(source, 0, settings)?))
    }
}

impl<R: Read> RecordReader<R> {
    /// Creates a reader on the caller's thread, with the default [`Limits`](bloscpack_wire::Limits). Nothing is read yet. The
    /// input needs no buffer: the reader reads 256 KiB at once.
    pub fn new(input: R) -> Self {
        Self::with_options(input, Options::new())
    }

    /// Creates a reader with these options. Nothing is read yet. [`Options::range`] is ignored.
    ///
    /// ```
    /// use bloscpack::{Options, records::{RecordReader, RecordWriter}};
    /// let mut writer = RecordWriter::builder().small().write_to(Vec::new())?;
    /// for number in 0..1000 {
    ///     writer.push(format!("record {number}"))?;
    /// }
    /// let stream = writer.finish()?;
    /// let reader = RecordReader::with_options(stream.as_slice(), Options::new().threads(2));
    /// let lens = reader.map(|record| Ok(record?.len()));
    /// assert_eq!(lens.sum::<Result<usize, bloscpack::error::Error>>()?, 9890);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_options(input: R, options: Options) -> Self {
        Self::with_engine(Engine::new(input, Settings::new(Wanted::Records, options)))
    }

    /// Reads up to the first chunk, and returns the header of the first member.
    ///
    /// # Errors
    /// Returns the same errors as [`next_record`](Self::next_record).
    pub fn read_header(&mut self) -> Result<&Header> {
        Ok(&self.engine.read_first()?.header)
    }

    /// Reads up to the first chunk, and returns the metadata of the first member, including the keys that describe the
    /// records; `None` if it has none.
    ///
    /// # Errors
    /// Returns the same errors as [`next_record`](Self::next_record).
    pub fn read_metadata(&mut self) -> Result<Option<&Metadata>> {
        let first = self.engine.read_first()?;
        Ok(first.metadata.as_ref().map(|(metadata, _)| metadata))
    }

    /// The next record, or `None` at the end.
    ///
    /// # Errors
    /// Returns any error of the input, after which the call may be repeated, and otherwise a permanent error:
    /// [`Damaged`](bloscpack_error::Category::Damaged) for a damaged chunk, for chunks out of order and for a number of records
    /// other than in the metadata; [`CutShort`](bloscpack_error::Category::CutShort) for an empty or truncated input;
    /// [`Unsupported`](bloscpack_error::Category::Unsupported) for a member that does not contain records, and for records
    /// that are packed in an unknown way.
    pub fn next_record(&mut self) -> Result<Option<&[u8]>> {
        let within = self.open.as_mut().map(OpenChunk::next).transpose()?;
        if let Some(within) = within.flatten() {
            self.next += 1;
            let open = self.open.as_ref();
            let open = open.ok_or_else(|| Error::bug("a record without its chunk"))?;
            return slice(&open.content, within).map(Some);
        }
        let last = std::mem::take(&mut self.current);
        self.recycle(last);
        Ok(match self.next_bytes()? {
            Some(record) => {
                self.current = record;
                Some(&self.current)
            }
            None => None,
        })
    }

    /// The next record as a value, or `None` at the end.
    ///
    /// ```
    /// use bloscpack::{error::Code, records::{RecordReader, RecordWriter}};
    /// let mut writer = RecordWriter::new(Vec::new())?;
    /// writer.push("text")?;
    /// writer.push([0xff])?; // not UTF-8
    /// let stream = writer.finish()?;
    ///
    /// let mut reader = RecordReader::new(stream.as_slice());
    /// assert_eq!(reader.next_as::<String>()?.as_deref(), Some("text"));
    /// let error = reader.next_as::<String>().unwrap_err();
    /// assert_eq!(error.code(), Code::RecordValue);
    /// assert!(error.to_string().starts_with("record 1: "));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`next_record`](Self::next_record), and
    /// [`Code::RecordValue`](bloscpack_error::Code::RecordValue) for a record that is not a value of this type; the next call
    /// returns the record after it.
    pub fn next_as<T: FromRecord>(&mut self) -> Result<Option<T>> {
        let number = self.records();
        let Some(record) = self.next_bytes()? else {
            return Ok(None);
        };
        value_of_record(record, number).map(Some)
    }

    /// The next record, without a copy.
    fn next_bytes(&mut self) -> Result<Option<Bytes>> {
        loop {
            if let Some(record) = self.ready()? {
                return Ok(Some(record));
            }
            let piece = self.engine.next()?;
            if !self.put(piece)? {
                return Ok(None);
            }
        }
    }
}

impl<R> RecordReader<R> {
    pub(crate) fn with_engine(engine: Engine<R>) -> Self {
        Self {
            engine,
            gathering: None,
            open: None,
            current: Bytes::new(),
            member: 0,
            form: None,
            next: 0,
            before: 0,
            damage: None,
            has_failed: false,
        }
    }

    /// The next record, if its chunk has arrived. If not, the caller gets the next piece from the engine.
    ///
    /// # Errors
    /// Returns the error of a chunk that could not be decoded. It is final.
    pub(crate) fn ready(&mut self) -> Result<Option<Bytes>> {
        if let Some(open) = &mut self.open {
            if let Some(record) = open.next()? {
                self.next += 1;
                return Ok(Some(open.content.slice(record)));
            }
            if let Some(used) = self.open.take() {
                self.recycle(used.content);
            }
        }
        if let Some(damage) = &self.damage {
            return Err(damage.clone().into());
        }
        let Some((head, content)) = self.next_chunk()? else {
            return Ok(None);
        };
        let Some(head) = head else {
            self.next += 1;
            return Ok(Some(content));
        };
        let at = in_memory(head.values_at())?;
        self.open = Some(OpenChunk {
            content,
            head,
            taken: 0,
            at,
        });
        self.ready()
    }

    /// Takes a piece from the engine, or `None` at the end. Returns false at the end.
    pub(crate) fn put(&mut self, piece: Option<Piece>) -> Result<bool> {
        let Some(piece) = piece else {
            if self.gathering.is_some() {
                return Err(Error::bug("a chunk without its last piece"));
            }
            self.end_member()?;
            return Ok(false);
        };
        let position = piece.info.position;
        if position.member != self.member || self.form.is_none() {
            self.end_member()?;
            (self.member, self.form) = (position.member, piece.info.form);
            self.before += self.next;
            self.next = 0;
        }
        let gathered = self.gather(piece);
        self.known(gathered, position).map(|()| true)
    }

    /// Remembers the damage of a chunk, which all further calls return.
    fn known<T>(
        &mut self,
        result: std::result::Result<T, GatherError>,
        position: Position,
    ) -> Result<T> {
        result.map_err(|error| match error {
            GatherError::Damage(error) => {
                let damage = ParseError { error, position };
                self.damage = Some(damage.clone());
                damage.into()
            }
            GatherError::Other(error) => error,
        })
    }

    /// Adds a piece to its chunk.
    fn gather(&mut self, piece: Piece) -> std::result::Result<(), GatherError> {
        let (nbytes, position) = (piece.info.header.nbytes, piece.info.position);
        let is_last = piece.is_last();
        let gathered = self.gathering.take();
        piece.result.clone()?;
        self.gathering = Some(match gathered {
            Some(mut chunk) => {
                chunk.content.truncate(chunk.len);
                chunk.content.extend_from_slice(piece.bytes()?);
                chunk.len = chunk.content.len();
                chunk.is_whole = is_last;
                self.engine.recycle(piece.buffer);
                chunk
            }
            None => {
                let head = match self.form {
                    Some(Form::Packed { packing, .. }) => {
                        Some(PackHead::decode(piece.bytes()?, nbytes, packing)?)
                    }
                    _ => None,
                };
                GatheredChunk {
                    head,
                    content: piece.buffer,
                    len: piece.len,
                    is_whole: is_last,
                    position,
                }
            }
        });
        Ok(())
    }

    /// The content of the gathered chunk, and its head if it is packed; `None` before its last piece.
    fn next_chunk(&mut self) -> Result<Option<(Option<PackHead>, Bytes)>> {
        let Some(chunk) = self.gathering.take_if(|chunk| chunk.is_whole) else {
            return Ok(None);
        };
        if let Some(head) = &chunk.head {
            let checked = slice(&chunk.content, 0..chunk.len)
                .map_err(GatherError::from)
                .and_then(|content| Ok(head.check(content, self.next)?));
            self.known(checked, chunk.position)?;
        }
        let mut content = Bytes::from(chunk.content);
        content.truncate(chunk.len);
        Ok(Some((chunk.head, content)))
    }

    /// Compares the number of records with the metadata, unless the member was allowed to be cut.
    fn end_member(&self) -> Result<()> {
        let Some(count) = self.form.and_then(|form| form.count()) else {
            return Ok(());
        };
        let is_cut = |warning: &Warning| matches!(warning, Warning::Unended(_));
        if count == self.next || self.engine.warnings.iter().any(is_cut) {
            return Ok(());
        }
        let error = FormatError::record_count(count, self.next);
        let position = Position {
            byte: 0,
            member: self.member,
            chunk: None,
            section: Section::Metadata,
        };
        Err(ParseError { error, position }.into())
    }

    /// Returns memory to the engine, unless a record still shares it.
    fn recycle(&mut self, used: Bytes) {
        if let Ok(buffer) = used.try_into_mut() {
            self.engine.recycle(buffer.into());
        }
    }

    /// Records read so far, over all members.
    pub fn records(&self) -> u64 {
        self.before + self.next
    }

    /// Things in the input that are unusual but not wrong. The list is complete at the end of the input.
    pub fn warnings(&self) -> &[Warning] {
        &self.engine.warnings
    }

    /// Compressed bytes read from the input so far, including those read ahead.
    pub fn total_in(&self) -> u64 {
        self.engine.total_in()
    }

    /// The input underneath.
    pub fn get_ref(&self) -> &R {
        self.engine.get_ref()
    }

    /// Returns the input. Bytes that were read ahead of the records are lost.
    pub fn into_inner(self) -> R {
        self.engine.into_inner()
    }

    /// Returns the input and the bytes that were read from it and not parsed. After the last of the requested
    /// [members](Options::members), these are the bytes that follow it; earlier, they may begin anywhere.
    pub fn into_parts(self) -> (R, Vec<u8>) {
        self.engine.into_parts()
    }
}

/// Why a chunk could not be gathered.
enum GatherError {
    /// The chunk is damaged.
    Damage(FormatError),
    /// Any other error, with its own position.
    Other(Error),
}

impl From<FormatError> for GatherError {
    fn from(error: FormatError) -> Self {
        Self::Damage(error)
    }
}

impl From<Error> for GatherError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// Returns each record. After an error it returns nothing more.
impl<R: Read> Iterator for RecordReader<R> {
    type Item = Result<Bytes>;

    fn next(&mut self) -> Option<Result<Bytes>> {
        if self.has_failed {
            return None;
        }
        let next = self.next_bytes().transpose();
        self.has_failed = matches!(next, Some(Err(_)));
        next
    }
}

impl<R> std::fmt::Debug for RecordReader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordReader")
            .field("records", &(self.before + self.next))
            .field("total_in", &self.engine.total_in())
            .finish_non_exhaustive()
    }
}
