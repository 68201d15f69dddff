//! The footer of a Parquet file, as far as lengths go.
//!
//! It is a struct of Thrift's compact protocol: fields with a type each, among them lists with a number of elements and binary
//! with a number of bytes. The crate `parquet` takes memory for as many as they say, and memory that is not there ends the
//! process; here each number is held against the bytes that follow.

/// Structs and lists within each other.
const MAX_DEPTH: usize = 64;

/// Checks that no length says more than there is.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    let mut walk = Walk { rest: bytes };
    walk.fields(0)
        .ok_or_else(|| format!("the footer of {} bytes contradicts itself", bytes.len()))
}

struct Walk<'a> {
    rest: &'a [u8],
}

impl Walk<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn skip(&mut self, len: usize) -> Option<()> {
        self.rest = self.rest.get(len..)?;
        Some(())
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A number of things that are at least a byte long each.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.rest.len()).then_some(count)
    }

    fn fields(&mut self, depth: usize) -> Option<()> {
        (depth < MAX_DEPTH).then_some(())?;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            // The number of the field, where it does not follow the last one closely.
            if head >> 4 == 0 {
                self.number()?;
            }
            match head & 15 {
                // Truth is in the type.
                1 | 2 => {}
                kind => self.value(kind, depth)?,
            }
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.skip(8),
            8 => {
                let len = self.count()?;
                self.skip(len)
            }
            9 | 10 => self.list(depth.checked_add(1)?),
            11 => self.map(depth.checked_add(1)?),
            12 => self.fields(depth.checked_add(1)?),
            _ => None,
        }
    }

    fn list(&mut self, depth: usize) -> Option<()> {
        (depth < MAX_DEPTH).then_some(())?;
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.count()?,
            count => usize::from(count),
        };
        (0..count).try_for_each(|_| self.value(head & 15, depth))
    }

    fn map(&mut self, depth: usize) -> Option<()> {
        (depth < MAX_DEPTH).then_some(())?;
        let count = self.count()?;
        if count == 0 {
            return Some(());
        }
        let kinds = self.byte()?;
        (0..count).try_for_each(|_| {
            self.value(kinds >> 4, depth)?;
            self.value(kinds & 15, depth)
        })
    }
}
