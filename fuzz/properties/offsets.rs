//! A sound file with a table of offsets and counts from the input: a reader by position gives an error, or the data
//! of the right chunk as the reader in order does.

use arbitrary::{Arbitrary, Unstructured};
use bloscpack::{Checksum, Decoder, FormatVersion, indexed::IndexedReader};
use std::io::Read;

use testkit::golden;

use golden::{ByHand, Field, Part, Recipe, parts, sensor};

#[derive(Arbitrary, Debug)]
struct Case {
    layout: u8,
    checksum: u8,
    chunks: u8,
    spare: u8,
    metadata: bool,
    size_known: bool,
    /// Number and value of an entry.
    entries: Vec<(u8, Entry)>,
    /// Counts of the header: which, and the new value.
    counts: Vec<(u8, u64)>,
}

#[derive(Arbitrary, Debug)]
enum Entry {
    Is(i64),
    /// That of another chunk.
    As(u8),
    Moved(i8),
    Unset,
}

impl Case {
    /// The unchanged file, and its content.
    fn sound(&self) -> (Vec<u8>, Vec<u8>) {
        let checksum = Checksum::ALL[usize::from(self.checksum) % Checksum::ALL.len()];
        let len = 64 * usize::from(self.chunks % 12) + usize::from(self.spare % 3);
        if self.layout.is_multiple_of(3) {
            let by_hand = ByHand {
                room: usize::from(self.spare / 3 % 20),
                sealed: self.size_known,
                metadata: self.metadata.then(|| golden::JSON.to_owned()),
                ..ByHand::v2(
                    checksum,
                    sensor(len + 1, 3).chunks(64).map(<[u8]>::to_vec).collect(),
                )
            };
            return (by_hand.make(), by_hand.data());
        }
        let recipe = Recipe {
            layout: [FormatVersion::V2, FormatVersion::V3][usize::from(self.layout % 3 - 1)],
            chunk_size: 64,
            len,
            spare: u64::from(self.spare / 3 % 20),
            metadata: self.metadata,
            size_known: self.size_known,
            ..Recipe::new(checksum)
        };
        (recipe.make(), recipe.data())
    }

    fn change_table(&self, file: &mut [u8], map: &[Part]) {
        let table: Vec<_> = of(map, &[Field::Offset, Field::SpareOffset]);
        let old: Vec<i64> = table
            .iter()
            .map(|part| golden::i64_at(file, part.at.start))
            .collect();
        if old.is_empty() {
            return;
        }
        for (number, entry) in &self.entries {
            let number = usize::from(*number) % old.len();
            let new = match entry {
                Entry::Is(value) => *value,
                Entry::As(other) => old[usize::from(*other) % old.len()],
                Entry::Moved(by) => old[number].wrapping_add((*by).into()),
                Entry::Unset => -1,
            };
            file[table[number].at.clone()].copy_from_slice(&new.to_le_bytes());
        }
    }

    fn change_counts(&self, file: &mut [u8], map: &[Part]) {
        let counts = [
            Field::ChunkSize,
            Field::LastChunk,
            Field::Nchunks,
            Field::MaxApp,
            Field::MetaSize,
        ];
        let counts = of(map, &counts);
        for (which, value) in &self.counts {
            let at = counts[usize::from(*which) % counts.len()].at.clone();
            let (len, value) = (at.len(), value.to_le_bytes());
            file[at].copy_from_slice(&value[..len]);
        }
    }
}

fn of<'a>(map: &'a [Part], fields: &[Field]) -> Vec<&'a Part> {
    map.iter()
        .filter(|part| fields.contains(&part.field))
        .collect()
}

/// A readable chunk: its position in the content, and its bytes.
type Found = Option<(u64, Vec<u8>)>;

/// Each chunk as a reader by position returns it.
fn by_position(file: &[u8]) -> bloscpack::Result<Vec<Found>> {
    let reader = IndexedReader::open(file)?;
    let chunk = |number| {
        let range = reader.chunk_range(number).ok()??;
        let bytes = reader.read_chunk(number).ok()?;
        assert_eq!(range.end - range.start, bytes.len() as u64);
        Some((range.start, bytes))
    };
    Ok((0..reader.chunks().min(1000)).map(chunk).collect())
}

/// Every chunk that is found is the right one.
fn is_right(file: &[u8], sound: &[u8], data: &[u8]) {
    let changed = file != sound;
    let Ok(found) = by_position(file) else {
        assert!(changed, "a sound file is refused");
        return;
    };
    assert!(changed || found.iter().all(Option::is_some));
    for (number, found) in found.into_iter().enumerate() {
        let Some((at, bytes)) = found else { continue };
        let right = data.get(at as usize..at as usize + bytes.len());
        assert!(
            right == Some(&bytes[..]),
            "another chunk's data, found {number}"
        );
    }
}

/// If a file can be read in order, it can be read by position with the same result.
fn is_as_in_order(file: &[u8]) {
    let mut data = Vec::new();
    let in_order = Decoder::new(file).read_to_end(&mut data);
    let found = by_position(file);
    if in_order.is_err() {
        return;
    }
    let found = found.expect("in order it can be read");
    let found: Vec<u8> = found
        .into_iter()
        .flat_map(|chunk| chunk.expect("in order it can be read").1)
        .collect();
    assert!(found == data);
}

pub fn check(input: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(input)) else {
        return;
    };
    let (sound, data) = case.sound();
    let map = parts(&sound);
    let mut file = sound.clone();
    case.change_table(&mut file, &map);
    is_right(&file, &sound, &data);
    is_as_in_order(&file);
    case.change_counts(&mut file, &map);
    is_as_in_order(&file);
}
