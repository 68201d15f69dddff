//! The lines of a file as records.

use std::ops::Range;
use std::path::Path;

/// Records one after the other, without their newlines.
pub struct Records {
    pub values: Vec<u8>,
    /// The start of each record, and the end of the last.
    offsets: Vec<usize>,
}

impl Records {
    /// The lines of a file.
    pub fn read(path: &Path) -> crate::Result<Self> {
        let text = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let text = text.strip_suffix(b"\n").unwrap_or(&text);
        Ok(Self::of(text.split(|&byte| byte == b'\n')))
    }

    fn of<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Self {
        let (mut values, mut offsets) = (vec![], vec![0]);
        for line in lines {
            values.extend_from_slice(line);
            offsets.push(values.len());
        }
        Self { values, offsets }
    }

    /// The first records that fit into `bytes` bytes.
    pub fn head(&self, bytes: usize) -> Self {
        let fit = self.offsets.partition_point(|&end| end <= bytes);
        let offsets = self.offsets[..fit].to_vec();
        let values = self.values[..offsets[fit - 1]].to_vec();
        Self { values, offsets }
    }

    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn get(&self, index: usize) -> &[u8] {
        &self.values[self.offsets[index]..self.offsets[index + 1]]
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Ranges of records that fit in `bytes` together; a longer record gets a range of its own.
    pub fn cut(&self, bytes: usize) -> Vec<Range<usize>> {
        let (mut ranges, mut from) = (vec![], 0);
        while from < self.len() {
            let end = self.offsets[from] + bytes;
            let to = self.offsets.partition_point(|&offset| offset <= end) - 1;
            let to = to.max(from + 1);
            ranges.push(from..to);
            from = to;
        }
        ranges
    }

    /// The bytes of a range of records.
    pub fn bytes(&self, range: &Range<usize>) -> &[u8] {
        &self.values[self.offsets[range.start]..self.offsets[range.end]]
    }

    /// The records with a newline after each, as in the file.
    pub fn lines(&self) -> Vec<u8> {
        let mut lines = Vec::with_capacity(self.values.len() + self.len());
        for record in self.iter() {
            lines.extend_from_slice(record);
            lines.push(b'\n');
        }
        lines
    }
}

/// Random record numbers, the same in every call.
pub fn numbers(records: usize, count: usize) -> Vec<usize> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let numbers = (0..count).map(|_| {
        // Marsaglia's xorshift.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((u128::from(state) * records as u128) >> 64) as usize
    });
    numbers.collect()
}
