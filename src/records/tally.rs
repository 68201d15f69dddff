//! [`RecordTally`]: counts the records of chunks that are read in order, also past damaged ones.

use crate::engine::ChunkInfo;
use bloscpack_error::checked::len_of;
use bloscpack_wire::{Form, FormatError, PackHead, ParseError, Position, Section};
use std::ops::Range;

/// Numbers of records, counted over all members.
pub(crate) type Numbers = Range<u64>;

/// Counts the records of chunks, and checks how they are packed.
#[derive(Debug, Default)]
pub(crate) struct RecordTally {
    /// The member of the last chunk, and the form of its chunks.
    member: Option<(u64, Form)>,
    /// Records of the members before it.
    before: u64,
    /// The number of the next record in its member.
    next: u64,
    /// Records of the last chunk, if it is sound.
    last: Numbers,
    /// Damaged packed chunks whose number of records is not known yet precede the next chunk.
    is_open: bool,
    /// Records in sound chunks.
    pub(crate) records: u64,
}

impl RecordTally {
    /// Whether a chunk is the first of another member, which ends the previous one.
    pub(crate) fn is_new(&self, info: &ChunkInfo) -> bool {
        let member = self.member.map(|(member, _)| member);
        member.is_some_and(|member| member != info.position.member)
    }

    /// Counts a sound chunk whose first piece is `content`, and returns the records that were lost before it.
    ///
    /// # Errors
    /// Returns [`FormatError::Packing`] if its records are damaged.
    pub(crate) fn sound(
        &mut self,
        info: &ChunkInfo,
        content: &[u8],
    ) -> Result<Option<Numbers>, FormatError> {
        let (first, end) = match self.form(info) {
            Form::Content => return Ok(None),
            // Numbers saturate: the head of a damaged chunk may contain any number, up to `u64::MAX`.
            Form::Records { .. } => (self.next, self.next.saturating_add(1)),
            Form::Packed { packing, .. } => {
                let nbytes = info.header.nbytes;
                let head = PackHead::decode(content, nbytes, packing)?;
                if !self.is_open || head.first < self.next {
                    head.check_first(self.next)?;
                }
                head.check_lengths(content, nbytes)?;
                (head.first, head.end())
            }
        };
        let lost = self.close(first);
        self.last = self.numbers(first..end);
        self.next = end;
        self.records += len_of(&(first..end));
        Ok(lost)
    }

    /// Counts a damaged chunk, and returns its records if their numbers are known already.
    pub(crate) fn damaged(&mut self, info: &ChunkInfo) -> Option<Numbers> {
        match self.form(info) {
            Form::Content => None,
            Form::Packed { .. } => {
                self.is_open = true;
                None
            }
            Form::Records { .. } => {
                let number = self.next;
                // Saturates, as for a sound chunk.
                self.next = number.saturating_add(1);
                Some(self.numbers(number..self.next))
            }
        }
    }

    /// Whether a later chunk may reveal the records of damaged ones.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Takes back the last chunk: its beginning was sound, but a later piece is damaged.
    pub(crate) fn take_back(&mut self) -> Option<Numbers> {
        let numbers = std::mem::take(&mut self.last);
        let count = len_of(&numbers);
        self.records -= count;
        (count > 0).then_some(numbers)
    }

    /// Ends a member after its last chunk, and returns the records that were lost at its end.
    ///
    /// # Errors
    /// Returns [`FormatError::MetadataData`] if its metadata contains another count.
    pub(crate) fn end(&mut self) -> Result<Option<Numbers>, ParseError> {
        let Some((member, form)) = self.member.take() else {
            return Ok(None);
        };
        let (found, count) = (self.next, form.count());
        let is_wrong = |count: u64| {
            let is_more = self.is_open && count > found;
            count != found && !is_more
        };
        let wrong = count.filter(|count| is_wrong(*count));
        let lost = self.close(count.unwrap_or(found).max(found));
        // Numbers saturate: damaged or hostile heads may contain any number.
        self.before = self.before.saturating_add(self.next);
        self.next = 0;
        match wrong {
            None => Ok(lost),
            Some(count) => {
                let position = Position {
                    byte: 0,
                    member,
                    chunk: None,
                    section: Section::Metadata,
                };
                let error = FormatError::record_count(count, found);
                Err(ParseError { error, position })
            }
        }
    }

    /// The form of a chunk, whose member becomes the current one.
    fn form(&mut self, info: &ChunkInfo) -> Form {
        // Of chunks of an unknown form, only the chunks are checked.
        let form = info.form.unwrap_or(Form::Content);
        self.member = Some((info.position.member, form));
        form
    }

    /// The records of damaged chunks before `first`.
    fn close(&mut self, first: u64) -> Option<Numbers> {
        let is_open = std::mem::take(&mut self.is_open);
        let lost = self.next..first;
        self.next = first;
        (is_open && !lost.is_empty()).then(|| self.numbers(lost))
    }

    /// Numbers over all members, which saturate as in [`end`](Self::end).
    fn numbers(&self, of_member: Numbers) -> Numbers {
        let count = |number: u64| self.before.saturating_add(number);
        count(of_member.start)..count(of_member.end)
    }
}
