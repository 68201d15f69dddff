//! Bytes as decisions.

/// Bytes consumed one by one; zeros follow the last.
pub struct Choices<'a> {
    rest: &'a [u8],
}

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else {
            return 0;
        };
        self.rest = rest;
        *first
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound.max(1)
    }

    /// A number from 0 to `most`.
    pub fn part(&mut self, most: u64) -> u64 {
        let wide = u64::from(self.byte()) * (most + 1);
        (wide >> 8).min(most)
    }

    pub fn yes(&mut self) -> bool {
        self.byte() % 2 == 1
    }

    pub fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}
