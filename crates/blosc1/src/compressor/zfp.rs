//! ZFP, by the crate `zfp-rs`: cells of 4 numbers along each axis, with a bound on the error, on the bits, or on the size.
//!
//! A stream is only the cells, in words of 64 bits in little endian. The shape comes from the array, the mode from the number of
//! the compressor, and the bound from its parameter.

use super::compress::Parameters;
use crate::ChunkError;
use zfp_rs::{
    ZfpBitStreamRef, ZfpConfig, ZfpDimensionality, ZfpFieldMut, ZfpScalar, ZfpStreamAlignment,
};

const ACCURACY: u8 = 33;
const PRECISION: u8 = 34;

/// The maximum number of axes.
const MAX_AXES: usize = 4;

/// Decompresses a block, and returns whether the stream is sound and gives exactly `dst.len()` bytes.
///
/// # Errors
///
/// Returns [`ChunkError::NoBlockShape`] without a shape, and [`ChunkError::Memory`].
pub(super) fn decompress(
    parameters: &Parameters,
    src: &[u8],
    dst: &mut [u8],
) -> Result<bool, ChunkError> {
    let what = "the compressor ZFP";
    let shape = parameters.shape.ok_or(ChunkError::NoBlockShape { what })?;
    let lengths = shape.lengths();
    let mut axes = [0; MAX_AXES];
    if lengths.len() > MAX_AXES {
        return Ok(false);
    }
    // The fastest axis is the first one of ZFP.
    for (to, length) in axes.iter_mut().zip(lengths.iter().rev()) {
        *to = *length as usize;
    }
    let items = shape.items() as usize;
    match parameters.typesize {
        4 if items * 4 == dst.len() => numbers(parameters, axes, src, dst, f32::to_le_bytes),
        8 if items * 8 == dst.len() => numbers(parameters, axes, src, dst, f64::to_le_bytes),
        _ => Ok(false),
    }
}

fn numbers<T: ZfpScalar + Default, const N: usize>(
    parameters: &Parameters,
    axes: [usize; MAX_AXES],
    src: &[u8],
    dst: &mut [u8],
    to_bytes: fn(T) -> [u8; N],
) -> Result<bool, ChunkError> {
    let count = axes.iter().filter(|length| **length > 0).count();
    let Some(config) = config::<T>(parameters, count) else {
        return Ok(false);
    };
    let mut words = Vec::new();
    let mut numbers = Vec::new();
    let room = words
        .try_reserve_exact(src.len() / 8)
        .and_then(|()| numbers.try_reserve_exact(dst.len() / N));
    room.map_err(|_| ChunkError::Memory)?;
    words.extend(
        src.as_chunks()
            .0
            .iter()
            .map(|word| u64::from_le_bytes(*word)),
    );
    numbers.resize(dst.len() / N, T::default());
    let mut stream = ZfpBitStreamRef::from_words(&words);
    let Ok(mut field) = ZfpFieldMut::new(&mut numbers, axes) else {
        return Ok(false);
    };
    if stream.decompress(&config, &mut field).is_err() {
        return Ok(false);
    }
    for (to, number) in dst.as_chunks_mut().0.iter_mut().zip(numbers) {
        *to = to_bytes(number);
    }
    Ok(true)
}

/// The mode with which C-Blosc2 calls ZFP for blocks with `axes` axes.
fn config<T: ZfpScalar>(parameters: &Parameters, axes: usize) -> Option<ZfpConfig> {
    let axes = u32::try_from(axes).ok()?;
    match parameters.compressor {
        ACCURACY => Some(ZfpConfig::fixed_accuracy(
            10_f64.powi(parameters.meta.cast_signed().into()),
        )),
        PRECISION => Some(ZfpConfig::fixed_precision(
            u32::from(parameters.meta) + 3 + 2 * axes,
        )),
        _ => {
            // Bits for a number: a share of its size in hundredths.
            let rate = f64::from(parameters.meta) / 100.0 * f64::from(parameters.typesize) * 8.0;
            let axes = ZfpDimensionality::try_from(axes).ok()?;
            ZfpConfig::fixed_rate(rate, T::SCALAR_TYPE, axes, ZfpStreamAlignment::Unaligned).ok()
        }
    }
}
