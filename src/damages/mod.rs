//! Finds the damages of a file and the sound chunks between them, for the reports of verification and for recovery.
//!
//! ```text
//!   ReadAt ─► scan (members: sound chunks and gaps) ─► kind (content or records)
//!          ─► gaps (how many chunks are lost in each) ─► salvage (check, decode)
//!          ─► collector (report, empty records) ─► an output
//! ```

mod classify;
mod collector;
mod gaps;
mod head;
mod kind;
mod member;
mod probe;
mod repeated;
mod report;
mod salvage;
mod scan;
mod search;
mod span;
mod table;
mod window;

pub(crate) use collector::{ContentOutput, Take};
pub(crate) use member::FoundMember;
pub use report::{Damage, Finding, Lost, Recovery};
pub(crate) use scan::holds_chunks;

use crate::Options;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use bloscpack_storage::ReadAt;
use bloscpack_wire::{Checksum, FormatError, MetadataPlace, ParseError, Position, Section};
use collector::Collector;
use head::PartDamage;
use kind::MemberKind;
use probe::Probe;
use salvage::Salvage;

/// The most zeros that are written for each byte of the source. A damaged header may count any number of chunks.
const MOST_ZEROS: u64 = 1 << 16;

/// A value, or the damage in its place.
type Checked<T> = std::result::Result<T, FormatError>;

/// Passes on all damages of a source, and returns the totals of its sound chunks.
pub(crate) fn examine<S: ReadAt>(
    source: &S,
    options: &Options,
    take: Take<'_>,
) -> Result<Recovery> {
    Findings::of(source, options)?.examine(source, options, take)
}

/// The members that a scan found.
pub(crate) struct Findings {
    pub members: Vec<FoundMember>,
    size: u64,
}

impl Findings {
    /// Scans a source and determines the kinds of its members.
    ///
    /// # Errors
    /// Returns any error of the source, and [`FormatError::Empty`] for an empty one.
    pub(crate) fn of<S: ReadAt>(source: &S, options: &Options) -> Result<Self> {
        let size = source.size()?;
        if size == 0 {
            return Err(FormatError::Empty.into());
        }
        let mut members = scan::scan(source, options.limits, options.hashers.clone())?;
        let mut probe = Probe::new(source, options.limits, options.hashers.clone())?;
        classify::find(&mut probe, &mut members)?;
        Ok(Self { members, size })
    }

    /// Whether to recover records instead of content. The first member with sound chunks and a readable header decides.
    pub(crate) fn has_records(&self) -> Result<bool> {
        let sound = || self.members.iter().filter(|member| member.sound > 0);
        let first = sound().find(|member| member.header.is_some());
        let first = first.or_else(|| sound().next());
        match first.or(self.members.first()).map(|member| &member.kind) {
            Some(MemberKind::Unknown(error)) => Err(error.clone().into()),
            kind => Ok(kind.is_some_and(MemberKind::has_records)),
        }
    }

    /// The part of the report that is known before any chunk is decoded.
    fn begin(&self) -> Recovery {
        let mut recovery = Recovery {
            members: to_u64(self.members.len()),
            chunks_lost: Some(0),
            records_lost: Some(0),
            content: Some(0),
            ..Recovery::default()
        };
        for (number, member) in (0..).zip(&self.members) {
            // Records always have metadata, which describes them.
            let needs_metadata = match &member.header {
                Some(header) if header.metadata != MetadataPlace::Absent => true,
                Some(header) => member.kind.has_records() && !header.varlen,
                None => member.kind.has_records(),
            };
            recovery.metadata_lost |= needs_metadata && member.metadata.is_none();
            recovery.metadata_lost |= member.is_damaged(Section::Metadata);
            recovery.offsets_lost |= member.is_damaged(Section::Offsets);
            recovery.header_lost |= member.header.is_none();
            recovery.is_changing |= member.is_changing;
            recovery
                .bare
                .extend((member.by() == Checksum::None).then_some(number));
        }
        recovery
    }

    /// Finds all damages and the totals of the sound chunks, without writing anything.
    pub(crate) fn examine<S: ReadAt>(
        self,
        source: &S,
        options: &Options,
        take: Take<'_>,
    ) -> Result<Recovery> {
        Ok(self.salvage(source, options, ((), None), take)?.0)
    }

    /// Passes all content to the output and all damage to `take`, in the order of their positions. With `wants_records`,
    /// members of the other kind are left out.
    pub(crate) fn salvage<S: ReadAt, O: ContentOutput>(
        self,
        source: &S,
        options: &Options,
        (output, wants_records): (O, Option<bool>),
        take: Take<'_>,
    ) -> Result<(Recovery, O)> {
        // Saturates: no amount reaches a bound above `u64::MAX`.
        let most_zeros = if options.fill {
            self.size.saturating_mul(MOST_ZEROS)
        } else {
            0
        };
        let collector = Collector::new(output, self.begin(), (self.size, most_zeros), take);
        let mut salvage = Salvage::new(source, options, collector);
        let starts = self.members.iter().map(|member| member.at);
        let ends: Vec<_> = starts.skip(1).chain([self.size]).collect();
        for ((index, mut member), end) in (0..).zip(self.members).zip(ends) {
            salvage.collector.member = index;
            let kind = std::mem::take(&mut member.kind);
            let has_records = kind.has_records();
            if let Some(wanted) = wants_records
                .filter(|wanted| *wanted != has_records || matches!(kind, MemberKind::Unknown(_)))
            {
                let why = match kind {
                    MemberKind::Unknown(error) => error.to_string(),
                    _ if wanted => "its chunks are not records".to_owned(),
                    _ => "its chunks are records".to_owned(),
                };
                salvage.collector.leave_out(member.at..end, &why, wanted);
                continue;
            }
            salvage.collector.begin(kind);
            report_member(member, has_records, (end, self.size), &mut salvage)?;
            salvage.collector.pass()?;
        }
        salvage.collector.pass()?;
        Ok((salvage.collector.recovery, salvage.collector.output))
    }
}

/// Reports the damages of a member, and passes on its chunks.
fn report_member<S: ReadAt, O: ContentOutput>(
    mut member: FoundMember,
    has_records: bool,
    (end, size): (u64, u64),
    salvage: &mut Salvage<'_, S, O>,
) -> Result<()> {
    let head = member.at..member.first_at;
    let is_told = member.is_damaged(Section::Offsets);
    for PartDamage {
        bytes,
        section,
        error,
    } in std::mem::take(&mut member.damages)
    {
        salvage.collector.part(bytes, section, error);
    }
    if let Some(id) = member.wrong_checksum_id() {
        let error = FormatError::Field {
            name: "checksum id",
            found: id.into(),
            expected: "that of the digests after the chunks",
        };
        salvage.collector.part(head.clone(), Section::Header, error);
    }
    let spans = gaps::resolve(&mut member, has_records, size);
    let counted = member.count.unwrap_or(u64::MAX);
    let is_over = counted < gaps::accounted(&spans);
    let hides_a_loss = repeated::hides_a_loss(salvage.source, &member, &spans, end)?;
    if let Some(error) = gaps::wrong_entry(&member, &spans).filter(|_| !is_told) {
        salvage
            .collector
            .part(head.clone(), Section::Offsets, error);
    }
    salvage.member(spans)?;
    let collector = &mut salvage.collector;
    collector.end(head.start)?;
    let trailing = member.trailing.clone();
    if counted < member.sound {
        let end = trailing.as_ref().map_or(size, |bytes| bytes.start);
        collector.part(
            end..end,
            Section::Trailer,
            FormatError::UncountedChunk { counted },
        );
    }
    if is_over || hides_a_loss {
        collector.uncounted(is_over || has_records);
    }
    if let Some(bytes) = trailing.filter(|_| !member.tolerates_trailing()) {
        collector.part(bytes, Section::Trailer, FormatError::Trailing);
    }
    Ok(())
}

fn at(byte: u64, member: u64, chunk: Option<u64>, section: Section) -> Position {
    Position {
        byte,
        member,
        chunk,
        section,
    }
}

fn error_at(error: FormatError, position: Position) -> Error {
    ParseError { error, position }.into()
}

/// The damage that an error reports. Any other error is returned unchanged.
pub(super) fn damage_of(error: Error) -> Result<FormatError> {
    error.format_error().cloned().ok_or(error)
}
