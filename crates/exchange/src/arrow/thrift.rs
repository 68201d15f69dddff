//! Checks the lengths in the footer of a Parquet file.
//!
//! The footer is a struct in Thrift's compact protocol: typed fields, among them lists with a number of elements and binary
//! values with a number of bytes. The `parquet` crate allocates memory by these numbers, and an allocation that fails ends the
//! process. Here each number is compared with the bytes that follow.

/// The maximum depth of nested structs and lists.
const MAX_DEPTH: usize = 64;

/// The Thrift types that this module distinguishes.
const I32: u8 = 5;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
/// The number of the footer's field with the schema, and of a schema element's field with the number of its children.
const SCHEMA: u16 = 2;
const CHILDREN: u16 = 5;

/// Whether no length exceeds the bytes that follow, and the schema, a list of elements in the order of a tree, is a tree.
pub(super) fn is_sound(bytes: &[u8]) -> bool {
    Walk { rest: bytes }.footer().is_some()
}

/// Whether groups with these numbers of children, in the order of a tree, have all of them and are not too deep.
fn is_tree(children: &[u64]) -> bool {
    let mut open: Vec<u64> = Vec::new();
    let mut left = children.len();
    for count in children {
        left -= 1;
        while open.last() == Some(&0) {
            open.pop();
        }
        if let Some(rest) = open.last_mut() {
            // Complete groups were removed above.
            *rest -= 1;
        }
        // The reader allocates for all children of a group at once.
        if usize::try_from(*count).map_or(true, |count| count > left) || open.len() >= MAX_DEPTH {
            return false;
        }
        if *count > 0 {
            open.push(*count);
        }
    }
    true
}

/// The bytes that were not walked yet. All methods return `None` for invalid bytes.
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

    /// Reads a number of items that are at least a byte long each.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.rest.len()).then_some(count)
    }

    /// Reads the type of the next field, and replaces `number` with the field's; 0 at the end.
    fn field(&mut self, number: &mut u16) -> Option<u8> {
        let head = self.byte()?;
        if head == 0 {
            return Some(0);
        }
        *number = match head >> 4 {
            // The number is not close to the last one. Readers use its lower 16 bits only.
            0 => u16::try_from(unfolded(self.number()?) & 0xffff).ok()?,
            step => number.wrapping_add(step.into()),
        };
        Some(head & 15)
    }

    fn fields(&mut self, depth: usize) -> Option<()> {
        (depth < MAX_DEPTH).then_some(())?;
        let mut number = 0;
        loop {
            match self.field(&mut number)? {
                0 => return Some(()),
                // A bool is in the type.
                1 | 2 => {}
                kind => self.value(kind, depth)?,
            }
        }
    }

    /// Walks the fields of the footer, and checks the schema.
    fn footer(&mut self) -> Option<()> {
        let mut number = 0;
        loop {
            match (self.field(&mut number)?, number) {
                (0, _) => return Some(()),
                (LIST, SCHEMA) => self.schema()?,
                // Readers would take any type for a list.
                (_, SCHEMA) => return None,
                (1 | 2, _) => {}
                (kind, _) => self.value(kind, 0)?,
            }
        }
    }

    fn schema(&mut self) -> Option<()> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.count()?,
            count => usize::from(count),
        };
        (head & 15 == STRUCT || count == 0).then_some(())?;
        let mut children = Vec::new();
        for _ in 0..count {
            children.push(self.element()?);
        }
        is_tree(&children).then_some(())
    }

    /// Walks an element of the schema, and returns the number of its children.
    fn element(&mut self) -> Option<u64> {
        let (mut number, mut children) = (0, None);
        loop {
            match (self.field(&mut number)?, number) {
                // A column has no number of children.
                (0, _) => return Some(children.unwrap_or(0)),
                (I32, CHILDREN) if children.is_none() => {
                    children = Some(unfolded(self.number()?));
                }
                (_, CHILDREN) => return None,
                (1 | 2, _) => {}
                (kind, _) => self.value(kind, 1)?,
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

/// A zigzag-encoded number. A negative one becomes larger than any valid number.
fn unfolded(number: u64) -> u64 {
    let half = number >> 1;
    if number & 1 == 0 { half } else { !half }
}

#[cfg(test)]
mod tests {
    use super::is_sound;
    use std::iter;

    fn number(mut number: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        while number >= 0x80 {
            bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        bytes.push(number.to_le_bytes()[0]);
        bytes
    }

    /// A footer whose schema has elements with so many children each; a sign is in the lowest bit.
    fn footer(children: &[u32]) -> Vec<u8> {
        let count = u32::try_from(children.len()).unwrap();
        let mut bytes = vec![0x15, 2, 0x19, 0xfc];
        bytes.extend(number(count));
        for children in children {
            // A name, then the number of children.
            bytes.extend([0x48, 1, b'g', 0x15]);
            bytes.extend(number(*children));
            bytes.push(0);
        }
        bytes.extend([0x16, 0, 0x19, 0x0c, 0]);
        bytes
    }

    #[test]
    fn schemas_that_are_trees_are_sound() {
        let two_of_two = [4, 4, 0, 0, 4, 0, 0];
        for children in [&[][..], &[0], &[2, 0], &two_of_two] {
            assert!(is_sound(&footer(children)), "{children:?}");
        }
        let wide: Vec<u32> = iter::once(2000).chain([0; 1000]).collect();
        assert!(is_sound(&footer(&wide)));
        let deep: Vec<u32> = [2; 60].into_iter().chain([0]).collect();
        assert!(is_sound(&footer(&deep)));
    }

    /// Each level is a call of a function in the crate that reads it, and each group takes room for its children.
    #[test]
    fn schemas_that_are_too_deep_or_count_what_is_not_there_are_refused() {
        let deep: Vec<u32> = iter::repeat_n(2, 300_000).chain([0]).collect();
        let more = [4, 0];
        let (below_zero, huge) = ([1, 0], [u32::MAX - 1, 0]);
        for children in [&deep[..], &more, &below_zero, &huge] {
            assert!(!is_sound(&footer(children)));
        }
    }

    /// The number of children in another type, or the schema, which the reader would take for what it is not.
    #[test]
    fn a_schema_in_another_type_is_refused() {
        assert!(!is_sound(&[0x28, 0, 0]));
        assert!(!is_sound(&[0x29, 0x1c, 0x58, 1, b'x', 0, 0]));
    }
}
