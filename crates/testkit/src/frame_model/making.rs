//! How an array is made.

use super::{Cell, Dice, Layers, MOST_BYTES};
use bloscpack::blosc::{FilterPipeline, FilterStep};
use bloscpack::{Compressor, Options};
use bloscpack_open::frames::{ArrayKind, NdArray, NdArrayBuilder};
use ndarray::ArrayD;

const COMPRESSORS: [Compressor; 5] = [
    Compressor::Lz4,
    Compressor::Blosclz,
    Compressor::Lz4hc,
    Compressor::Zlib,
    Compressor::Zstd,
];
/// The longest axis, by how many there are.
const LONGEST: [usize; 6] = [0, 300, 24, 9, 5, 4];

pub struct Making {
    shape: Vec<u64>,
    pub itemsize: u8,
    kind: ArrayKind,
    chunk: Vec<u32>,
    block: Vec<u32>,
    compressor: Compressor,
    level: u8,
    filters: FilterPipeline,
    first: First,
    pub layers: Layers,
    pub vllayers: Layers,
    pub options: Options,
}

enum First {
    Zeros,
    Uninit,
    Nans,
    Full(Cell),
}

/// The shape of chunks, some of them longer than the array.
pub fn chunks(dice: &mut Dice<'_>, shape: &[u64]) -> Vec<u32> {
    // Not too many chunks of a long axis.
    let axes = shape.iter().map(|len| {
        let least = *len as usize / 24;
        (1 + least + dice.below(*len as usize + 3 - least)) as u32
    });
    axes.collect()
}

pub fn blocks(dice: &mut Dice<'_>, chunk: &[u32]) -> Vec<u32> {
    let axes = chunk.iter().map(|len| 1 + dice.below(*len as usize) as u32);
    axes.collect()
}

/// Elements as arrays have them: all the same, counted, a few kinds, or noise.
pub fn elements(dice: &mut Dice<'_>, lens: &[usize]) -> ArrayD<Cell> {
    let kind = dice.below(5);
    dice.seed();
    let one = element(dice);
    let count = lens.iter().product::<usize>();
    let cells = (0..count).map(|index| match kind {
        0 => [0; MOST_BYTES],
        1 => one,
        2 => {
            let mut cell = [0; MOST_BYTES];
            cell[0] = index as u8;
            cell[MOST_BYTES - 1] = (index >> 8) as u8;
            cell
        }
        3 => match dice.noise() % 3 {
            0 => one,
            1 => [0; MOST_BYTES],
            _ => [7; MOST_BYTES],
        },
        _ => std::array::from_fn(|_| dice.noise()),
    });
    ArrayD::from_shape_vec(lens, cells.collect()).unwrap()
}

pub fn element(dice: &mut Dice<'_>) -> Cell {
    match dice.below(3) {
        0 => [0; MOST_BYTES],
        1 => [dice.byte(); MOST_BYTES],
        _ => {
            dice.seed();
            std::array::from_fn(|_| dice.noise())
        }
    }
}

fn filters(dice: &mut Dice<'_>) -> FilterPipeline {
    let steps: &[FilterStep] = match dice.below(8) {
        0 | 1 => &[FilterStep::Shuffle],
        2 => &[],
        3 => &[FilterStep::Bitshuffle],
        4 => &[FilterStep::Delta],
        5 => &[FilterStep::Delta, FilterStep::Shuffle],
        6 => &[FilterStep::Delta, FilterStep::Bitshuffle],
        _ => &[FilterStep::Shuffle, FilterStep::Bitshuffle],
    };
    FilterPipeline::new(steps).unwrap()
}

fn options(dice: &mut Dice<'_>) -> Options {
    Options::new()
        .threads(1 + dice.below(3))
        .cache([64 << 20, 0, 1, 200, 3000][dice.below(5)])
}

impl Making {
    pub fn at(dice: &mut Dice<'_>) -> Self {
        let axes = [2, 1, 3, 4, 5, 2, 3, 0][dice.below(8)];
        let longest = LONGEST[axes];
        let shape: Vec<u64> = (0..axes)
            .map(|_| match dice.below(12) {
                0 => 1,
                1 => 0,
                _ => 1 + dice.below(longest) as u64,
            })
            .collect();
        let itemsize = 1 + dice.below(MOST_BYTES) as u8;
        let chunk = chunks(dice, &shape);
        let block = blocks(dice, &chunk);
        let kind = if axes == 0 || dice.below(2) == 0 {
            ArrayKind::B2nd
        } else {
            ArrayKind::Caterva
        };
        let compressor = COMPRESSORS[dice.below(COMPRESSORS.len())];
        let level = dice.below(7) as u8;
        let filters = filters(dice);
        let first = match dice.below(5) {
            0 | 1 => First::Zeros,
            2 => First::Uninit,
            3 if matches!(itemsize, 4 | 8) => First::Nans,
            _ => First::Full(element(dice)),
        };
        let layers = |dice: &mut Dice<'_>| {
            let names = ["unit", "b"].into_iter().take(dice.below(3));
            names
                .map(|name| (name.to_owned(), dice.bytes(40)))
                .collect()
        };
        Self {
            shape,
            itemsize,
            kind,
            chunk,
            block,
            compressor,
            level,
            filters,
            first,
            options: options(dice),
            layers: layers(dice),
            vllayers: layers(dice),
        }
    }

    pub fn builder(&self) -> NdArrayBuilder {
        let mut builder = NdArray::builder(&self.shape, self.itemsize.into())
            .kind(self.kind)
            .chunk_shape(&self.chunk)
            .block_shape(&self.block)
            .compressor(self.compressor)
            .level(self.level)
            .filters(self.filters)
            .options(self.options.clone());
        for (name, value) in &self.layers {
            builder = builder.metalayer(name, value.clone());
        }
        for (name, value) in &self.vllayers {
            builder = builder.vlmetalayer(name, value.clone());
        }
        match &self.first {
            First::Zeros => builder,
            First::Uninit => builder.empty(),
            First::Nans => builder.nans(),
            First::Full(cell) => builder.full(&cell[..usize::from(self.itemsize)]),
        }
    }

    /// The initial elements.
    pub fn elements(&self) -> ArrayD<Cell> {
        let lens: Vec<usize> = self.shape.iter().map(|len| *len as usize).collect();
        let mut cell = [0; MOST_BYTES];
        match &self.first {
            First::Zeros | First::Uninit => {}
            First::Nans if self.itemsize == 4 => {
                cell[..4].copy_from_slice(&f32::NAN.to_le_bytes());
            }
            First::Nans => cell[..8].copy_from_slice(&f64::NAN.to_le_bytes()),
            First::Full(full) => cell = *full,
        }
        ArrayD::from_elem(lens, cell)
    }
}
