//! [`default_shapes`]: the default shapes of chunks and blocks.

/// The maximum sizes of blocks and chunks, chosen by the sizes of processor caches.
///
/// The defaults are the same on every machine, so the same array results in the same bytes. `NdArrayBuilder::caches` in
/// `bloscpack-frames` takes other sizes.
///
/// ```
/// use bloscpack_array::{Caches, default_shapes};
/// let (chunk, block) = default_shapes(&[300, 300, 300], 8, Caches::default());
/// assert_eq!((chunk, block), (vec![60, 60, 100], vec![15, 30, 25]));
///
/// let large = Caches::default().chunk(64 << 20);
/// assert_eq!(large.chunk, 64 << 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caches {
    /// The maximum number of bytes in a block. A block and its compressed bytes should fit into the second-level cache of a
    /// core.
    pub block: u32,
    /// The maximum number of bytes in a chunk. A chunk should fit into a core's part of the third-level cache.
    pub chunk: u32,
}

impl Default for Caches {
    /// Blocks of up to 128 KiB and chunks of up to 4 MiB: half the second-level cache of small current machines, and a core's
    /// part of their third-level cache.
    fn default() -> Self {
        Self {
            block: 128 << 10,
            chunk: 4 << 20,
        }
    }
}

impl Caches {
    /// Sets the maximum number of bytes in a block.
    #[must_use]
    pub fn block(mut self, bytes: u32) -> Self {
        self.block = bytes;
        self
    }

    /// Sets the maximum number of bytes in a chunk.
    #[must_use]
    pub fn chunk(mut self, bytes: u32) -> Self {
        self.chunk = bytes;
        self
    }
}

/// Chooses the shapes of chunks and blocks for an array of this shape, with elements of `itemsize` bytes.
///
/// Returns the shape of a chunk and of a block, both with an entry per axis and at least 1 everywhere. They have about the same
/// length along each axis, are longer along the last axes, and fit the caches; an element that is larger than a cache is a
/// block or chunk of its own. Chunks are cut evenly: none at the end is much shorter than the others.
#[must_use]
pub fn default_shapes(shape: &[u64], itemsize: u32, caches: Caches) -> (Vec<u32>, Vec<u32>) {
    let whole: Vec<u64> = shape.iter().map(|len| (*len).max(1)).collect();
    let chunk = even(&whole, &within(&whole, itemsize, caches.chunk));
    let whole: Vec<u64> = chunk.iter().map(|len| u64::from(*len)).collect();
    let bytes = caches.block.min(caches.chunk);
    let block = even(&whole, &within(&whole, itemsize, bytes));
    (chunk, block)
}

/// A shape within another, of up to `bytes` bytes. Axes are doubled in turn: the shortest first, the last of several.
fn within(whole: &[u64], itemsize: u32, bytes: u32) -> Vec<u32> {
    let most = u64::from((bytes / itemsize.max(1)).max(1));
    let mut shape = vec![1u32; whole.len()];
    let mut elements = 1u64;
    loop {
        let grows = |(len, whole): &(&mut u32, &u64)| u64::from(**len) < **whole;
        let axes = shape.iter_mut().zip(whole).rev().filter(grows);
        let Some((len, whole)) = axes.min_by_key(|(len, _)| **len) else {
            return shape;
        };
        let longer = (u64::from(*len) * 2).min(*whole);
        // Both factors are less than 2^33.
        let grown = elements / u64::from(*len) * longer;
        match u32::try_from(longer) {
            Ok(longer) if grown <= most => (*len, elements) = (longer, grown),
            _ => return shape,
        }
    }
}

/// Keeps the number of pieces along each axis, but makes them about equally long; none is longer than `piece`.
fn even(whole: &[u64], piece: &[u32]) -> Vec<u32> {
    let axes = whole.iter().zip(piece);
    axes.map(|(whole, piece)| {
        let pieces = whole.div_ceil((*piece).max(1).into()).max(1);
        u32::try_from(whole.div_ceil(pieces)).map_or(*piece, |len| len.min(*piece))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::{Caches, default_shapes};

    fn bytes(shape: &[u32], itemsize: u64) -> u64 {
        shape.iter().map(|len| u64::from(*len)).product::<u64>() * itemsize
    }

    /// Whatever the array, chunks and blocks are within it and fit their caches, and chunks have at least an eighth of what
    /// would fit.
    #[test]
    fn shapes_fit_the_caches() {
        let caches = Caches::default();
        for shape in [
            &[1_000_000_000][..],
            &[10, 10],
            &[100_000, 3],
            &[3, 100_000],
            &[300, 300, 290],
            &[1, 5000, 5000],
            &[7; 8],
            &[0, 100],
            &[],
        ] {
            for itemsize in [1, 4, 8, 255] {
                let (chunk, block) = default_shapes(shape, itemsize, caches);
                for ((chunk, block), len) in chunk.iter().zip(&block).zip(shape) {
                    assert!(*chunk >= 1 && u64::from(*chunk) <= (*len).max(1));
                    assert!(*block >= 1 && block <= chunk);
                }
                let itemsize = u64::from(itemsize);
                assert!(bytes(&chunk, itemsize) <= u64::from(caches.chunk));
                assert!(bytes(&block, itemsize) <= u64::from(caches.block));
                let all = shape.iter().product::<u64>() * itemsize;
                let expected = all.min(u64::from(caches.chunk)) / 8;
                assert!(
                    bytes(&chunk, itemsize) >= expected,
                    "{shape:?} {itemsize} {chunk:?}"
                );
            }
        }
    }
}
