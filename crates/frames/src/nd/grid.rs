//! [`Grid`]: where the elements of an array lie in its chunks and blocks.

use crate::wire::ArrayMeta;
use bloscpack_dtype::{boxes::to_usize, strided::strides};
use bloscpack_error::{Error, Result};
use std::ops::Range;

/// The shape of an array, of its chunks and of their blocks.
///
/// ```text
///             axis 1, chunks of 5, blocks of 2
///            ┌─┬─┬─┬ ┌─┬─┬─┬          a chunk is stored as whole blocks: 6 where it has 5.
///   axis 0   │ │ │ ╎ │ │ │ ╎          What is behind its own end is padding, of which
///            └─┴─┴─┴ └─┴─┴─┴          nobody knows what it holds
///             chunk 0  chunk 1
/// ```
///
/// Chunks are numbered in C order, and so are blocks in a chunk, and elements in a block.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    pub shape: Vec<u64>,
    pub chunk: Vec<u64>,
    pub block: Vec<u64>,
    /// A chunk as it is stored.
    pub stored: Vec<u64>,
    /// Chunks along each axis.
    pub counts: Vec<u64>,
    /// Blocks of a chunk along each axis.
    pub blocks: Vec<u64>,
    pub itemsize: usize,
    /// Bytes of a block.
    pub block_len: usize,
    /// Bytes of a chunk as it is stored.
    pub chunk_len: usize,
    /// Bytes between elements of a block.
    pub block_strides: Vec<usize>,
}

/// A box of whole units (chunks, blocks) along each axis, gone through in C order.
#[derive(Debug, Clone)]
pub(super) struct Positions {
    within: Vec<Range<u64>>,
    next: Option<Vec<u64>>,
}

impl Positions {
    pub(super) fn new(within: Vec<Range<u64>>) -> Self {
        let is_empty = within.iter().any(Range::is_empty);
        let first = within.iter().map(|range| range.start).collect();
        Self {
            within,
            next: (!is_empty).then_some(first),
        }
    }
}

impl Iterator for Positions {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Vec<u64>> {
        let at = self.next.take()?;
        let mut following = at.clone();
        for (position, range) in following.iter_mut().zip(&self.within).rev() {
            *position = position.saturating_add(1);
            if *position < range.end {
                self.next = Some(following);
                break;
            }
            *position = range.start;
        }
        Some(at)
    }
}

impl Grid {
    /// The grid of a description that fits its frame.
    pub(super) fn of(meta: &ArrayMeta, itemsize: u32) -> Self {
        let wide =
            |shape: &[u32]| -> Vec<u64> { shape.iter().map(|len| u64::from(*len)).collect() };
        let (chunk, block) = (wide(&meta.chunk_shape), wide(&meta.block_shape));
        let stored = meta.stored_chunk_shape();
        let blocks = stored.iter().zip(&block);
        let blocks = blocks.map(|(stored, block)| stored.checked_div(*block).unwrap_or(0));
        let itemsize = usize::try_from(itemsize).unwrap_or(usize::MAX);
        let bytes = |shape: &[u64]| {
            let lens = shape.iter().map(|len| to_usize(*len));
            lens.fold(itemsize, usize::saturating_mul)
        };
        let block_shape: Vec<usize> = block.iter().map(|len| to_usize(*len)).collect();
        Self {
            shape: meta.shape.clone(),
            counts: meta.grid(),
            blocks: blocks.collect(),
            block_len: bytes(&block),
            chunk_len: bytes(&stored),
            block_strides: strides(&block_shape, itemsize),
            stored,
            itemsize,
            chunk,
            block,
        }
    }

    /// All of the array.
    pub(super) fn whole(&self) -> Vec<Range<u64>> {
        self.shape.iter().map(|len| 0..*len).collect()
    }

    /// Refuses what lies outside of the array.
    pub(super) fn check(&self, wanted: &[Range<u64>]) -> Result<()> {
        let mut axes = wanted.iter().zip(&self.shape);
        let fits = wanted.len() == self.shape.len()
            && axes.all(|(range, len)| range.start <= range.end && range.end <= *len);
        match fits {
            true => Ok(()),
            false => Err(Error::usage(format!(
                "the slice {wanted:?} does not lie in an array of shape {:?}",
                self.shape
            ))),
        }
    }

    /// The positions of the chunks that a box touches.
    pub(super) fn chunks_of(&self, wanted: &[Range<u64>]) -> Positions {
        Positions::new(units(wanted, &self.chunk))
    }

    /// Bytes of the blocks that a box touches.
    pub(super) fn work(&self, wanted: &[Range<u64>]) -> usize {
        let axes = wanted
            .iter()
            .zip(&self.chunk)
            .zip(self.block.iter().zip(&self.blocks));
        axes.fold(self.block_len, |work, ((range, chunk), (block, blocks))| {
            let row = |at: u64| {
                let inside = at.checked_rem(*chunk).unwrap_or(0);
                let before = at.checked_div(*chunk).unwrap_or(0).saturating_mul(*blocks);
                before.saturating_add(inside.checked_div(*block).unwrap_or(0))
            };
            let last = row(range.end.saturating_sub(1));
            let rows = last.saturating_sub(row(range.start)).saturating_add(1);
            work.saturating_mul(to_usize(rows))
        })
    }

    /// The number of the chunk at this position.
    pub(super) fn number(&self, at: &[u64]) -> u64 {
        number(at, &self.counts)
    }

    /// Where the chunk at this position begins.
    pub(super) fn origin(&self, at: &[u64]) -> Vec<u64> {
        at.iter()
            .zip(&self.chunk)
            .map(|(at, len)| at.saturating_mul(*len))
            .collect()
    }

    /// What a chunk has of the array.
    pub(super) fn extent(&self, origin: &[u64]) -> Vec<Range<u64>> {
        let axes = origin.iter().zip(&self.chunk).zip(&self.shape);
        axes.map(|((begin, chunk), len)| *begin..begin.saturating_add(*chunk).min(*len))
            .collect()
    }

    /// The array cut along its first axes into boxes of whole chunks, each of so many bytes at the most if it can be.
    pub(super) fn bands(&self, bytes: usize) -> impl Iterator<Item = Vec<Range<u64>>> + use<> {
        let all = self
            .counts
            .iter()
            .fold(1u64, |all, count| all.saturating_mul((*count).max(1)));
        let mut left = all.saturating_mul(u64::try_from(self.chunk_len).unwrap_or(u64::MAX));
        let most = u64::try_from(bytes).unwrap_or(u64::MAX);
        // The first axes are cut into single chunks until the rest fits.
        let axes = self.counts.iter().zip(&self.chunk).zip(&self.shape);
        let steps = axes.map(|((count, chunk), len)| {
            let step = match left > most {
                true => {
                    left = left.checked_div(*count).unwrap_or(0);
                    let more = most.checked_div(left.max(1)).unwrap_or(0).max(1);
                    chunk.saturating_mul(more)
                }
                false => *len,
            };
            step.max(1)
        });
        let steps: Vec<u64> = steps.collect();
        Positions::new(units(&self.whole(), &steps)).map(move |at| {
            let axes = at.iter().zip(&steps);
            axes.map(|(at, step)| {
                let start = at.saturating_mul(*step);
                start..start.saturating_add(*step)
            })
            .collect()
        })
    }

    /// The blocks of a chunk that a box touches, which is told from the chunk's beginning on.
    pub(super) fn blocks_of(&self, inside: &[Range<u64>]) -> Positions {
        Positions::new(units(inside, &self.block))
    }

    /// The number of the block at this position of a chunk.
    pub(super) fn block_number(&self, at: &[u64]) -> u32 {
        u32::try_from(number(at, &self.blocks)).unwrap_or(u32::MAX)
    }

    /// The part of a box that lies in the block at this position, all told from the chunk's beginning on.
    pub(super) fn in_block(&self, at: &[u64], inside: &[Range<u64>]) -> Vec<Range<u64>> {
        let axes = at.iter().zip(&self.block).zip(inside);
        axes.map(|((at, len), range)| {
            let begin = at.saturating_mul(*len);
            range.start.max(begin)..range.end.min(begin.saturating_add(*len))
        })
        .collect()
    }

    /// Where a part of a block begins in its bytes.
    pub(super) fn block_start(&self, at: &[u64], part: &[Range<u64>]) -> usize {
        let axes = at
            .iter()
            .zip(&self.block)
            .zip(part)
            .zip(&self.block_strides);
        axes.fold(0, |start, (((at, len), range), stride)| {
            let inside = range.start.saturating_sub(at.saturating_mul(*len));
            start.saturating_add(to_usize(inside).saturating_mul(*stride))
        })
    }
}

fn number(at: &[u64], counts: &[u64]) -> u64 {
    at.iter().zip(counts).fold(0, |number: u64, (at, count)| {
        number.saturating_mul(*count).saturating_add(*at)
    })
}

/// The units of so many elements that a box touches along each axis.
fn units(wanted: &[Range<u64>], unit: &[u64]) -> Vec<Range<u64>> {
    let axes = wanted.iter().zip(unit);
    axes.map(|(range, len)| match range.is_empty() || *len == 0 {
        true => 0..0,
        false => range.start.checked_div(*len).unwrap_or(0)..range.end.div_ceil(*len),
    })
    .collect()
}

/// Elements of a box along each axis.
pub(super) fn lens(wanted: &[Range<u64>]) -> Vec<usize> {
    wanted
        .iter()
        .map(|range| to_usize(range.end.saturating_sub(range.start)))
        .collect()
}

/// A box told from an origin on.
pub(super) fn relative(wanted: &[Range<u64>], origin: &[u64]) -> Vec<Range<u64>> {
    let axes = wanted.iter().zip(origin);
    axes.map(|(range, begin)| range.start.saturating_sub(*begin)..range.end.saturating_sub(*begin))
        .collect()
}

/// What two boxes share.
pub(super) fn common(one: &[Range<u64>], other: &[Range<u64>]) -> Vec<Range<u64>> {
    let axes = one.iter().zip(other);
    axes.map(|(one, other)| {
        let start = one.start.max(other.start);
        start..one.end.min(other.end).max(start)
    })
    .collect()
}

/// Bytes of a box; nothing if memory does not have as many.
pub(super) fn box_len(wanted: &[Range<u64>], itemsize: usize) -> Option<usize> {
    if wanted.iter().any(Range::is_empty) {
        return Some(0);
    }
    let mut axes = wanted
        .iter()
        .map(|range| range.end.saturating_sub(range.start));
    let len = axes.try_fold(itemsize, |len, axis| {
        len.checked_mul(usize::try_from(axis).ok()?)
    })?;
    isize::try_from(len).ok().map(|_| len)
}
