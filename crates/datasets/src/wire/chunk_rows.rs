//! The default number of rows of a chunk.

const MIB: u128 = 1 << 20;

/// The base of the default chunk length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChunkBase {
    /// 1024 bytes: carray and BLZ.
    Base1024,
    /// 4096 bytes: bcolz from 0.7.
    Base4096,
}

/// The rows of a chunk that bcolz, BLZ and carray choose for an array of `expected_rows` rows of `row_bytes` bytes each.
///
/// The larger the array, the longer the chunk: 4 to 1024 times the bytes of the base, and at least one row.
///
/// ```
/// use bloscpack_datasets::{wire::ChunkBase, wire::default_chunk_rows};
/// assert_eq!(default_chunk_rows(ChunkBase::Base4096, 20_000_000, 8), 131_072);
/// assert_eq!(default_chunk_rows(ChunkBase::Base4096, 0, 8), 16_384 / 8);
/// assert_eq!(default_chunk_rows(ChunkBase::Base1024, 5, 1 << 30), 1);
/// ```
#[must_use]
pub fn default_chunk_rows(base: ChunkBase, expected_rows: u64, row_bytes: u64) -> u64 {
    let base = match base {
        ChunkBase::Base1024 => 1024,
        ChunkBase::Base4096 => 4096,
    };
    let bytes = u128::from(expected_rows) * u128::from(row_bytes);
    let chunk_bytes: u64 = base << zone_bits(bytes);
    (chunk_bytes / row_bytes.max(1)).max(1)
}

/// 6 plus the decimal logarithm of the size in MiB, rounded towards zero and limited to 0.0001 to 10000 MiB.
///
/// The other programs compute it with floats. The results agree, because no number of bytes is close enough to a power of ten
/// for floats to round the other way.
fn zone_bits(bytes: u128) -> u32 {
    let zones = [(10_000, 2), (1000, 3), (100, 4), (10, 5)];
    // Saturates: it is only compared with a small number.
    let small = zones
        .iter()
        .find(|(part, _)| bytes.saturating_mul(*part) <= MIB);
    match small {
        Some((_, bits)) => *bits,
        None => [10, 100, 1000, 10_000]
            .iter()
            .fold(6, |bits, times| bits + u32::from(bytes >= times * MIB)),
    }
}

#[cfg(test)]
mod tests {
    use super::{ChunkBase, default_chunk_rows};

    fn kib(rows: u64) -> u64 {
        default_chunk_rows(ChunkBase::Base4096, rows, 8) * 8 / 1024
    }

    /// The results of bcolz for so many float64.
    #[test]
    fn chunks_are_as_long_as_bcolz_makes_them() {
        let facts = [
            (0, 16),
            (13, 16),
            (14, 32),
            (13107, 128),
            (13108, 256),
            (131_072, 256),
            (1_310_719, 256),
            (1_310_720, 512),
            (13_107_200, 1024),
            (131_072_000, 2048),
            (1_310_720_000, 4096),
            (u64::MAX, 4096),
        ];
        for (rows, expected) in facts {
            assert_eq!(kib(rows), expected, "{rows} rows");
        }
    }

    /// The formula as the writers have it, with floats, around each of its steps.
    #[test]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "as Python's int() does"
    )]
    fn whole_numbers_and_floats_agree() {
        let with_floats = |bytes: u64| {
            let mib = bytes as f64 / 1_048_576.0;
            let zone = mib.clamp(1e-4, 1e4).log10().trunc();
            4096 * 2_f64.powf(zone + 6.0) as u64
        };
        for power in -4..=4 {
            let step = (2_f64.powi(20) * 10_f64.powi(power)) as u64;
            for bytes in step.saturating_sub(3)..step + 4 {
                assert_eq!(
                    default_chunk_rows(ChunkBase::Base4096, bytes, 1),
                    with_floats(bytes),
                    "{bytes}"
                );
            }
        }
    }

    #[test]
    fn rows_of_any_length_fit() {
        assert_eq!(
            default_chunk_rows(ChunkBase::Base1024, u64::MAX, u64::MAX),
            1
        );
        assert_eq!(default_chunk_rows(ChunkBase::Base1024, 100, 0), 4096);
    }
}
