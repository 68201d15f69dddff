//! The members of an input: their headers and metadata.

use super::{Engine, State, Wanted, Warning, Ways};
use bloscpack_error::Result;
use bloscpack_wire::{
    Form, FormatError, Header, Metadata, MetadataHeader, NumpyArray, ParseError, Position, Section,
};
use std::io::Read;

/// The current member.
pub(super) struct CurrentMember {
    pub header: Option<Header>,
    /// The form of its chunks.
    pub form: std::result::Result<Form, FormatError>,
    /// Number of chunks begun.
    pub chunks: u64,
    /// Where its content begins.
    pub content_at: u64,
    /// The array that its metadata describes; only for verification.
    pub array: Option<NumpyArray>,
}

/// Header and metadata of the first member.
pub(crate) struct FirstMember {
    pub header: Header,
    pub metadata: Option<(Metadata, Option<MetadataHeader>)>,
    /// The chunks have begun: no metadata can follow.
    is_complete: bool,
}

impl<R: Read> Engine<R> {
    /// Reads up to the chunks of the first member.
    pub(crate) fn read_first(&mut self) -> Result<&FirstMember> {
        while self.advance_to_first()? {
            self.read_more()?;
        }
        self.first()
    }
}

impl<R> Engine<R> {
    /// Parses up to the chunks of the first member. Returns true if that needs more input.
    pub(crate) fn advance_to_first(&mut self) -> Result<bool> {
        while !self.first.as_ref().is_some_and(|first| first.is_complete)
            && !matches!(self.state, State::Ended(_))
        {
            match self.state {
                State::Failed(_) => return Err(self.fail()),
                State::Broken(fail) => return Err(fail()),
                _ => {}
            }
            if self.advance()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Header and metadata of the first member, once they have been read.
    pub(crate) fn first(&self) -> Result<&FirstMember> {
        match (&self.first, &self.state) {
            (Some(first), _) if first.is_complete => Ok(first),
            (_, State::Ended(Err(error))) => Err(error.clone().into()),
            // A member may end before its first chunk.
            (Some(first), _) => Ok(first),
            (None, _) => Err(FormatError::Empty.into()),
        }
    }

    pub(super) fn begin_member(&mut self, header: Header) {
        self.member = CurrentMember {
            form: Form::of(&header, None),
            header: Some(header.clone()),
            chunks: 0,
            content_at: self.content,
            array: None,
        };
        if self.bodies.is_some() {
            self.ways = Ways::Open;
        }
        self.first.get_or_insert(FirstMember {
            header,
            metadata: None,
            is_complete: false,
        });
    }

    /// Takes the metadata of the current member, which may change the form of its chunks.
    pub(super) fn put_metadata(&mut self, metadata: Metadata, header: Option<MetadataHeader>) {
        if let Some(own) = &self.member.header {
            self.member.form = Form::of(own, Some(&metadata));
            if self.settings.wanted == Wanted::Chunks && !own.varlen {
                // An array of an unknown dtype has an unknown length.
                self.member.array = NumpyArray::of(&metadata).ok().flatten();
            }
        }
        if let Some(first) = self.first.as_mut().filter(|first| !first.is_complete) {
            first.metadata = Some((metadata, header));
        }
    }

    /// Begins the chunks of the current member, after its metadata.
    pub(super) fn begin_chunks(&mut self) {
        if let Some(first) = &mut self.first {
            first.is_complete = true;
        }
        self.end_of_range();
        self.check_form();
    }

    /// Stops at a member whose chunks do not have the wanted form.
    fn check_form(&mut self) {
        match (
            self.settings.wanted.check(&self.member.form),
            &self.member.form,
        ) {
            (Err(error), _) => self.end_at_metadata(error),
            (Ok(()), Err(error)) => {
                let error = error.clone();
                let position = self.metadata_position();
                let error = ParseError { error, position };
                self.warnings.push(Warning::UnknownPacking(error));
            }
            (Ok(()), Ok(_)) => {}
        }
    }

    /// Stops after the number of members in the options.
    pub(super) fn end_member(&mut self) {
        if self.settings.options.members == Some(self.parser.members()) {
            self.state = State::Ended(Ok(()));
        }
        self.check_empty();
        self.check_array();
    }

    /// Records the error of an array whose length is not the length of the content.
    fn check_array(&mut self) {
        // The content only grows, so this does not underflow.
        let found = self.content - self.member.content_at;
        let array = self.member.array.take();
        if let Some(Err(error)) = array.map(|array| array.check_content(found)) {
            let position = self.metadata_position();
            self.wrong_arrays.push(ParseError { error, position });
        }
    }

    /// Refuses a member that counts records and has no chunk. A caller that counts the records of chunks would not see it.
    fn check_empty(&mut self) {
        let counted = self.member.form.as_ref().ok().and_then(Form::count);
        if let (Wanted::Records | Wanted::Chunks, Some(count @ 1..), 0) =
            (self.settings.wanted, counted, self.member.chunks)
        {
            self.end_at_metadata(FormatError::record_count(count, 0));
        }
    }

    fn metadata_position(&self) -> Position {
        Position {
            byte: self.parser.member_at(),
            // The parser has counted the current member.
            member: self.parser.members() - 1,
            chunk: None,
            section: Section::Metadata,
        }
    }

    /// Ends the input with an error in the metadata of the current member.
    fn end_at_metadata(&mut self, error: FormatError) {
        let position = self.metadata_position();
        self.state = State::Ended(Err(ParseError { error, position }));
    }
}
