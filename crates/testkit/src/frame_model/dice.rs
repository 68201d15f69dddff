//! [`Dice`]: choices out of bytes.

/// Chooses by the bytes it has, one after the other; without any left it chooses the first.
#[derive(Debug, Clone)]
pub struct Dice<'a> {
    bytes: &'a [u8],
    state: u64,
}

impl<'a> Dice<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, state: 1 }
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        *first
    }

    /// A number below `bound`; 0 if there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        let wide = match bound {
            0 | 1 => return 0,
            2..=256 => self.byte().into(),
            _ => usize::from(self.byte()) << 8 | usize::from(self.byte()),
        };
        wide % bound
    }

    /// Up to `most` bytes, in half of the cases all equal.
    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        let (len, seed) = (self.below(most + 1), self.byte());
        self.state = u64::from(seed) << 1 | 1;
        match seed % 2 {
            0 => vec![seed; len],
            _ => (0..len).map(|_| self.noise()).collect(),
        }
    }

    /// Noise derived from the last choice.
    pub fn seed(&mut self) {
        self.state = (u64::from(self.byte()) << 8 | 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    }

    pub fn noise(&mut self) -> u8 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D).to_be_bytes()[0]
    }
}
