//! A file as a row of parts, and the damage done to it.

use crate::recovery::golden::{Field, parts};
use bloscpack::blosc::ChunkDecoder;
use bloscpack::{Options, decompress};
use std::io::Cursor;
use std::ops::Range;
use testkit::damages::{Recovered, recover};

/// A chunk with its digest, or anything between chunks.
#[derive(Clone)]
pub struct Part {
    pub bytes: Vec<u8>,
    /// The number of the chunk, over all members.
    pub chunk: Option<usize>,
    pub member: usize,
    /// Its bytes before anything was done to them.
    sound: Vec<u8>,
}

/// A file whose chunks are known.
#[derive(Clone)]
pub struct Model {
    pub name: String,
    pub parts: Vec<Part>,
    /// The content of each chunk.
    pub contents: Vec<Vec<u8>>,
    /// Each chunk is followed by a digest.
    pub checked: bool,
    /// Chunks inside the data of damaged ones may be taken for chunks: nothing is left that distinguishes them.
    pub is_ambiguous: bool,
}

impl Model {
    /// Takes a sound file apart.
    pub fn of(name: &str, file: &[u8]) -> Self {
        let (mut row, mut contents, mut checked) = (Vec::<Part>::new(), Vec::new(), true);
        let map = parts(file);
        for (index, part) in map.iter().enumerate() {
            let bytes = file[part.at.clone()].to_vec();
            match part.field {
                Field::Chunk => {
                    let nbytes = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
                    let mut data = vec![0; nbytes as usize];
                    ChunkDecoder::new().decode(&bytes, &mut data).unwrap();
                    let number = contents.len();
                    contents.push(data);
                    let next = map.get(index + 1);
                    checked &= next.is_some_and(|next| next.field == Field::Digest);
                    row.push(Part::new(bytes, Some(number), part.member));
                }
                Field::Digest => {
                    let chunk = row.last_mut().unwrap();
                    chunk.bytes.extend(&bytes);
                    chunk.sound.extend(&bytes);
                }
                _ => row.push(Part::new(bytes, None, part.member)),
            }
        }
        let model = Self {
            name: name.to_owned(),
            parts: row,
            contents,
            checked,
            is_ambiguous: false,
        };
        assert_eq!(model.file(), file, "{name}");
        assert_eq!(model.contents.concat(), decompress(file).unwrap(), "{name}");
        model
    }

    pub fn file(&self) -> Vec<u8> {
        self.parts
            .iter()
            .flat_map(|part| part.bytes.clone())
            .collect()
    }

    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.bytes.len()).sum()
    }

    /// The position of each chunk, digest included.
    pub fn chunks(&self) -> Vec<Range<usize>> {
        self.places(|part| part.chunk.is_some())
    }

    /// The positions of everything else.
    pub fn others(&self) -> Vec<Range<usize>> {
        self.places(|part| part.chunk.is_none())
    }

    fn places(&self, wanted: impl Fn(&Part) -> bool) -> Vec<Range<usize>> {
        let mut at = 0;
        let mut places = Vec::new();
        for part in &self.parts {
            if wanted(part) {
                places.push(at..at + part.bytes.len());
            }
            at += part.bytes.len();
        }
        places
    }

    /// Chunks that are damaged or gone.
    pub fn damaged_chunks(&self) -> usize {
        let intact = self.states().iter().filter(|state| state.2).count();
        self.contents.len() - intact.min(self.contents.len())
    }

    /// Puts other bytes in place of as many.
    pub fn overwrite(&mut self, at: usize, bytes: &[u8]) {
        let mut here = 0;
        for part in &mut self.parts {
            let len = part.bytes.len();
            let from = at.clamp(here, here + len);
            let to = (at + bytes.len()).clamp(here, here + len);
            let old_at = here;
            here += len;
            if from >= to {
                continue;
            }
            let new = &bytes[from - at..to - at];
            let old = &mut part.bytes[from - old_at..to - old_at];
            old.copy_from_slice(new);
        }
    }

    pub fn flip(&mut self, at: usize, bit: u32) {
        let byte = self.file()[at] ^ 1 << bit;
        self.overwrite(at, &[byte]);
    }

    pub fn delete(&mut self, range: Range<usize>) {
        let mut here = 0;
        for part in &mut self.parts {
            let len = part.bytes.len();
            let from = range.start.clamp(here, here + len) - here;
            let to = range.end.clamp(here, here + len) - here;
            if from < to {
                part.bytes.drain(from..to);
            }
            here += len;
        }
        self.parts.retain(|part| !part.bytes.is_empty());
    }

    pub fn cut(&mut self, len: usize) {
        self.delete(len..self.len());
    }

    pub fn insert(&mut self, at: usize, bytes: &[u8]) {
        let mut here = 0;
        for index in 0..self.parts.len() {
            let part = &mut self.parts[index];
            let len = part.bytes.len();
            if at == here {
                self.parts.insert(index, Part::new(bytes.to_vec(), None, 0));
                return;
            }
            if at < here + len {
                part.bytes
                    .splice(at - here..at - here, bytes.iter().copied());
                return;
            }
            here += len;
        }
        self.parts.push(Part::new(bytes.to_vec(), None, 0));
    }

    /// Which of the parts are chunks.
    fn chunk_parts(&self) -> Vec<usize> {
        (0..self.parts.len())
            .filter(|index| self.parts[*index].chunk.is_some())
            .collect()
    }

    /// Whether two chunks are of the same member, so that each would hold where the other is.
    pub fn are_of_one(&self, one: usize, other: usize) -> bool {
        let chunks = self.chunk_parts();
        self.parts[chunks[one]].member == self.parts[chunks[other]].member
    }

    /// Whether it is the last of its member.
    pub fn is_short(&self, chunk: usize) -> bool {
        let part = &self.parts[self.chunk_parts()[chunk]];
        self.contents[part.chunk.unwrap()].len() < self.contents[0].len()
    }

    pub fn swap(&mut self, one: usize, other: usize) {
        let chunks = self.chunk_parts();
        self.parts.swap(chunks[one], chunks[other]);
    }

    /// Puts a second copy of chunk `from` after chunk `behind`.
    pub fn duplicate(&mut self, from: usize, behind: usize) {
        let chunks = self.chunk_parts();
        let copy = self.parts[chunks[from]].clone();
        self.parts.insert(chunks[behind] + 1, copy);
    }

    /// The chunks that must come back, in order, each with its content; and the chunks that may, since their damage
    /// cannot be detected.
    fn expected(&self) -> Vec<(Vec<u8>, bool)> {
        let file = self.file();
        let mut expected = Vec::new();
        for (at, chunk, intact) in self.states() {
            if intact {
                expected.push((self.contents[chunk].clone(), true));
            } else if !self.checked
                && let Some(data) = decoded(&file[at..])
            {
                expected.push((data, false));
            }
        }
        expected
    }

    /// The position of each chunk, its number, and whether all of it is there: the bytes after a cut may happen to
    /// begin with the ones cut off.
    fn states(&self) -> Vec<(usize, usize, bool)> {
        let file = self.file();
        let (mut at, mut taken, mut states) = (0, 0, Vec::new());
        for part in &self.parts {
            if let Some(chunk) = part.chunk {
                let is_intact = at >= taken && file[at..].starts_with(&part.sound);
                states.push((at, chunk, is_intact));
                if is_intact {
                    taken = at + part.sound.len();
                }
            }
            at += part.bytes.len();
        }
        states
    }

    /// Recovers it and compares: without zeros, then with them.
    pub fn check(&self) -> Option<Recovered> {
        let expected = self.expected();
        let file = self.file();
        let (mut plain, mut filled) = (Cursor::new(Vec::new()), Cursor::new(Vec::new()));
        let outcome = recover(&file, &mut plain, &Options::new());
        let recovery = match outcome {
            Ok(recovery) => recovery,
            Err(error) => {
                let is_due = expected.iter().any(|(_, must)| *must);
                assert!(!is_due, "{}: {error}", self.name);
                assert!(plain.get_ref().is_empty(), "{}: written", self.name);
                return None;
            }
        };
        let content = decompress(plain.get_ref()).unwrap();
        if self.is_ambiguous {
            assert!(has_all(&content, &expected), "{}: {recovery:#?}", self.name);
            return Some(recovery);
        }
        assert!(
            is_made_of(&content, &expected),
            "{}: {} bytes of {} expected; {recovery:#?}",
            self.name,
            content.len(),
            expected.iter().map(|(data, _)| data.len()).sum::<usize>()
        );
        assert_eq!(recovery.bytes, content.len() as u64, "{}", self.name);
        if content.len() == expected.iter().map(|(data, _)| data.len()).sum::<usize>() {
            assert_eq!(recovery.chunks, expected.len() as u64, "{}", self.name);
        }
        let options = Options::new().fill(true).threads(2);
        let again = recover(&file, &mut filled, &options).unwrap();
        self.check_filled(&again, &content, &decompress(filled.get_ref()).unwrap());
        Some(recovery)
    }

    /// With zeros it is the same, but for the zeros where the report has them.
    fn check_filled(&self, recovery: &Recovered, plain: &[u8], filled: &[u8]) {
        assert_eq!(
            filled.len() as u64,
            recovery.bytes + recovery.filled,
            "{}",
            self.name
        );
        let mut rest = Vec::new();
        let mut from = 0;
        for lost in recovery.lost.iter().filter(|lost| lost.filled) {
            let at = usize::try_from(lost.at).unwrap();
            let len = usize::try_from(lost.len.unwrap()).unwrap();
            rest.extend_from_slice(&filled[from..at]);
            assert!(
                filled[at..at + len].iter().all(|byte| *byte == 0),
                "{}",
                self.name
            );
            if let Some(content) = &lost.content
                && recovery.lost.iter().all(|lost| lost.filled)
            {
                // Nothing of unknown length before: positions are those of old.
                assert_eq!(content.start, lost.at, "{}", self.name);
            }
            from = at + len;
        }
        rest.extend_from_slice(&filled[from..]);
        assert!(rest == plain, "{}: more than zeros differs", self.name);
    }

    /// The lost content, as ranges, if the damage moved nothing.
    pub fn lost(&self) -> Vec<Range<u64>> {
        let states = self.states().into_iter();
        let intact: Vec<usize> = states
            .filter(|state| state.2)
            .map(|state| state.1)
            .collect();
        let (mut at, mut lost) = (0, Vec::<Range<u64>>::new());
        for (number, content) in self.contents.iter().enumerate() {
            let range = at..at + content.len() as u64;
            at = range.end;
            if intact.contains(&number) || range.is_empty() {
                continue;
            }
            match lost.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => lost.push(range),
            }
        }
        lost
    }
}

/// The ranges of content that a recovery reports as lost, neighbours joined; nothing if a length is
/// unknown.
pub fn reported(recovery: &Recovered) -> Option<Vec<Range<u64>>> {
    let mut all = Vec::<Range<u64>>::new();
    for lost in &recovery.lost {
        let range = lost.content.clone()?;
        match all.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => all.push(range),
        }
    }
    Some(all)
}

impl Part {
    fn new(bytes: Vec<u8>, chunk: Option<usize>, member: usize) -> Self {
        Self {
            sound: bytes.clone(),
            bytes,
            chunk,
            member,
        }
    }
}

/// The result of a damaged chunk without a digest, if it still decodes.
fn decoded(file: &[u8]) -> Option<Vec<u8>> {
    let header = bloscpack::blosc::ChunkHeader::parse(file.first_chunk()?).ok()?;
    let mut data = vec![0; header.nbytes as usize];
    let chunk = file.get(..header.ctbytes as usize)?;
    ChunkDecoder::new().decode(chunk, &mut data).ok()?;
    Some(data)
}

/// Whether `content` is all that must be there, in order, with any of what may.
fn is_made_of(content: &[u8], expected: &[(Vec<u8>, bool)]) -> bool {
    let mut ends = std::collections::BTreeSet::from([0]);
    for (data, must) in expected {
        let mut next = std::collections::BTreeSet::new();
        for end in ends {
            if content[end..].starts_with(data) {
                next.insert(end + data.len());
            }
            if !must {
                next.insert(end);
            }
        }
        ends = next;
    }
    ends.contains(&content.len())
}

/// Whether `content` has at least all that must be there, in order.
fn has_all(content: &[u8], expected: &[(Vec<u8>, bool)]) -> bool {
    let mut rest = content;
    expected.iter().filter(|(_, must)| *must).all(|(data, _)| {
        let at = (0..=rest.len()).find(|at| rest[*at..].starts_with(data));
        at.inspect(|at| rest = &rest[at + data.len()..]).is_some()
    })
}
