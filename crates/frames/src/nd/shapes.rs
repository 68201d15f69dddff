//! Shapes of chunks and blocks, where nobody says which.

/// Bytes of the caches that blocks and chunks are to fit into.
///
/// The same numbers on every machine, so that the same array gives the same bytes; whoever knows better says so with
/// [`NdArrayBuilder::caches`](super::NdArrayBuilder::caches).
///
/// ```
/// use bloscpack_frames::{Caches, default_shapes};
/// let (chunk, block) = default_shapes(&[300, 300, 300], 8, Caches::default());
/// assert_eq!((chunk, block), (vec![60, 60, 100], vec![15, 30, 25]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caches {
    /// What a block is to fit into, with what it is compressed to: the second-level cache of a core.
    pub block: u32,
    /// What a chunk is to fit into: the third-level cache, or a core's part of it.
    pub chunk: u32,
}

impl Default for Caches {
    /// Blocks of up to 128 KiB, chunks of up to 4 MiB: half the second-level caches of today's small machines, and a core's part
    /// of their third-level ones.
    fn default() -> Self {
        Self {
            block: 128 << 10,
            chunk: 4 << 20,
        }
    }
}

/// The shapes of chunks and blocks for an array of this shape: boxes of about the same length along each axis, longer along the
/// last ones, that fit into the caches. Chunks are cut evenly: none at the end is much shorter than the others.
#[must_use]
pub fn default_shapes(shape: &[u64], itemsize: u32, caches: Caches) -> (Vec<u32>, Vec<u32>) {
    let whole: Vec<u64> = shape.iter().map(|len| (*len).max(1)).collect();
    let chunk = even(&whole, &boxed(&whole, itemsize, caches.chunk));
    let block = even(
        &chunk,
        &boxed(&chunk, itemsize, caches.block.min(caches.chunk)),
    );
    let narrow = |shape: Vec<u64>| {
        let lens = shape
            .into_iter()
            .map(|len| u32::try_from(len).unwrap_or(u32::MAX));
        lens.collect()
    };
    (narrow(chunk), narrow(block))
}

/// A box within another that has no more than so many bytes: axes are doubled in turn, the shortest first and of those the last.
fn boxed(whole: &[u64], itemsize: u32, bytes: u32) -> Vec<u64> {
    let most = u64::from(bytes)
        .checked_div(u64::from(itemsize.max(1)))
        .unwrap_or(1)
        .max(1);
    let mut shape = vec![1u64; whole.len()];
    let mut items = 1u64;
    loop {
        let grows = |(len, whole): &(&mut u64, &u64)| **len < **whole;
        let axes = shape.iter_mut().zip(whole).rev().filter(grows);
        let Some((len, whole)) = axes.min_by_key(|(len, _)| **len) else {
            return shape;
        };
        let longer = len.saturating_mul(2).min(*whole);
        let grown = (items / *len).saturating_mul(longer);
        if grown > most {
            return shape;
        }
        (*len, items) = (longer, grown);
    }
}

/// The same number of pieces along each axis, but all of about the same length.
fn even(whole: &[u64], piece: &[u64]) -> Vec<u64> {
    let axes = whole.iter().zip(piece);
    axes.map(|(whole, piece)| whole.div_ceil(whole.div_ceil((*piece).max(1)).max(1)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Caches, default_shapes};

    fn bytes(shape: &[u32], itemsize: u64) -> u64 {
        shape.iter().map(|len| u64::from(*len)).product::<u64>() * itemsize
    }

    /// Whatever the array, chunks and blocks lie within it, fit their caches, and are more than a quarter of what fits if the
    /// array is.
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
