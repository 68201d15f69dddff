//! The figures that the cost model stands on.
//!
//! `cargo bench --bench auto -- calibrate` prints them: the time of one thread for a byte of a stream of
//! 128 KiB, in picoseconds, by how far the stream shrank. The streams are those of numbers, text and
//! noise, plain, shuffled and bitshuffled. These are of a run of November 2026 on one core of a shared
//! x86-64 server (AVX-512), best of five rounds. Another machine has others; what counts here is how
//! they compare.

use crate::blosc::Compressor;

/// Compressed to so many thousandths of its length: what the figures of a row but the last stand for.
pub(super) const KNOTS: [u64; 7] = [0, 30, 100, 250, 500, 750, 1000];
/// The place of the last figure: for streams that the compressor gave up, which are stored.
pub(super) const STORED: usize = KNOTS.len();

/// Picoseconds a byte, by how far a stream shrank.
pub(super) type Figures = [u64; STORED + 1];

/// The figures of one compressor at one level.
pub(super) struct Row {
    compressor: Compressor,
    level: u8,
    pub encode: Figures,
    pub decode: Figures,
}

/// The figures of a compressor at a level; none for level 0, which only copies.
pub(super) fn row(compressor: Compressor, level: u8) -> Option<&'static Row> {
    ROWS.iter()
        .find(|row| row.compressor == compressor && row.level == level)
}

/// A copy, and a copy back.
pub(super) const COPY: (u64, u64) = (12, 12);

/// Byte shuffle and its inverse.
pub(super) const fn shuffle(typesize: u8) -> (u64, u64) {
    match typesize {
        0..16 => (21, 18),
        16..24 => (59, 30),
        24.. => (100, 41),
    }
}

/// Bitshuffle and its inverse.
pub(super) const fn bitshuffle(typesize: u8) -> (u64, u64) {
    match typesize {
        0 | 1 => (44, 42),
        2..16 => (110, 50),
        16.. => (57, 43),
    }
}

const fn line(compressor: Compressor, level: u8, encode: Figures, decode: Figures) -> Row {
    Row {
        compressor,
        level,
        encode,
        decode,
    }
}

#[rustfmt::skip]
const ROWS: [Row; 54] = [
    line(Compressor::Blosclz, 1, [21, 44, 439, 1169, 1780, 213, 108, 14], [10, 17, 128, 484, 624, 85, 50, 12]),
    line(Compressor::Blosclz, 2, [20, 43, 423, 1214, 1731, 1203, 1943, 16], [10, 16, 127, 481, 595, 233, 345, 12]),
    line(Compressor::Blosclz, 3, [20, 44, 426, 1203, 1764, 1216, 1203, 16], [10, 17, 127, 477, 593, 226, 220, 12]),
    line(Compressor::Blosclz, 4, [20, 44, 426, 1209, 1905, 1730, 1223, 16], [10, 17, 126, 474, 603, 340, 223, 12]),
    line(Compressor::Blosclz, 5, [20, 44, 426, 1220, 1921, 1746, 1256, 16], [10, 17, 129, 489, 613, 342, 223, 12]),
    line(Compressor::Blosclz, 6, [21, 52, 600, 1611, 2830, 2052, 1642, 16], [10, 17, 133, 428, 659, 308, 241, 12]),
    line(Compressor::Blosclz, 7, [21, 52, 607, 1633, 2891, 2180, 2000, 19], [10, 17, 134, 429, 667, 321, 292, 12]),
    line(Compressor::Blosclz, 8, [21, 52, 602, 1671, 2846, 2367, 2373, 22], [10, 17, 133, 434, 657, 327, 319, 12]),
    line(Compressor::Blosclz, 9, [21, 51, 596, 1655, 2845, 2337, 2326, 22], [10, 16, 131, 432, 662, 326, 316, 12]),
    line(Compressor::Lz4, 1, [26, 36, 210, 404, 942, 338, 165, 37], [10, 13, 102, 190, 418, 106, 39, 12]),
    line(Compressor::Lz4, 2, [22, 31, 208, 406, 955, 315, 172, 37], [10, 13, 101, 188, 413, 102, 45, 12]),
    line(Compressor::Lz4, 3, [24, 33, 206, 412, 980, 305, 185, 38], [10, 13, 102, 191, 409, 100, 43, 12]),
    line(Compressor::Lz4, 4, [23, 32, 208, 436, 1001, 290, 206, 38], [10, 13, 102, 188, 405, 98, 51, 12]),
    line(Compressor::Lz4, 5, [23, 32, 215, 431, 1018, 290, 255, 39], [10, 13, 103, 186, 407, 102, 70, 12]),
    line(Compressor::Lz4, 6, [23, 33, 214, 439, 1064, 294, 251, 40], [10, 13, 103, 188, 406, 96, 52, 12]),
    line(Compressor::Lz4, 7, [23, 32, 218, 450, 1024, 318, 318, 40], [10, 13, 103, 189, 409, 99, 62, 12]),
    line(Compressor::Lz4, 8, [24, 34, 221, 460, 1024, 396, 363, 40], [10, 14, 104, 191, 407, 104, 64, 10]),
    line(Compressor::Lz4, 9, [23, 32, 217, 486, 1024, 547, 449, 41], [10, 13, 101, 194, 402, 124, 73, 12]),
    line(Compressor::Lz4hc, 1, [34, 53, 337, 1238, 2150, 2804, 3625, 783], [10, 14, 86, 210, 392, 202, 111, 12]),
    line(Compressor::Lz4hc, 2, [34, 53, 344, 1231, 2169, 2831, 3673, 800], [10, 14, 86, 210, 393, 205, 111, 12]),
    line(Compressor::Lz4hc, 3, [367, 705, 3156, 4927, 7647, 12486, 14328, 790], [10, 20, 121, 190, 429, 194, 162, 12]),
    line(Compressor::Lz4hc, 4, [410, 846, 4446, 6720, 10519, 14282, 15037, 793], [11, 22, 124, 179, 406, 182, 158, 12]),
    line(Compressor::Lz4hc, 5, [480, 1080, 6272, 9856, 15622, 15547, 15026, 792], [11, 23, 124, 175, 404, 180, 160, 12]),
    line(Compressor::Lz4hc, 6, [629, 1515, 9098, 15890, 21509, 16601, 15482, 812], [12, 26, 127, 182, 409, 183, 168, 12]),
    line(Compressor::Lz4hc, 7, [863, 2212, 13593, 27984, 30907, 17755, 15760, 796], [12, 27, 129, 188, 423, 182, 164, 12]),
    line(Compressor::Lz4hc, 8, [1214, 3206, 19786, 45898, 47004, 19183, 16179, 796], [12, 27, 129, 183, 427, 180, 161, 12]),
    line(Compressor::Lz4hc, 9, [914, 5320, 54999, 134038, 112749, 24026, 17039, 804], [12, 30, 143, 185, 456, 189, 165, 12]),
    line(Compressor::Snappy, 1, [27, 31, 152, 602, 1167, 1067, 296, 24], [353, 346, 327, 448, 633, 445, 125, 12]),
    line(Compressor::Snappy, 2, [27, 32, 153, 613, 1167, 1069, 297, 24], [355, 349, 328, 449, 636, 450, 126, 12]),
    line(Compressor::Snappy, 3, [28, 32, 152, 617, 1169, 1067, 297, 24], [356, 349, 329, 454, 638, 459, 128, 10]),
    line(Compressor::Snappy, 4, [29, 33, 154, 621, 1171, 1066, 297, 24], [356, 349, 329, 453, 636, 449, 127, 12]),
    line(Compressor::Snappy, 5, [28, 33, 151, 608, 1150, 1060, 296, 24], [350, 343, 323, 447, 625, 447, 127, 12]),
    line(Compressor::Snappy, 6, [30, 34, 153, 610, 1166, 1063, 297, 24], [353, 346, 327, 446, 634, 453, 128, 10]),
    line(Compressor::Snappy, 7, [32, 37, 153, 614, 1166, 1068, 296, 24], [355, 349, 328, 447, 629, 450, 126, 12]),
    line(Compressor::Snappy, 8, [36, 41, 156, 606, 1154, 1054, 293, 24], [354, 348, 326, 443, 628, 448, 125, 12]),
    line(Compressor::Snappy, 9, [31, 35, 149, 580, 1168, 1078, 307, 24], [351, 344, 324, 440, 631, 455, 128, 10]),
    line(Compressor::Zlib, 1, [821, 1204, 2418, 3075, 3911, 6292, 6618, 803], [410, 383, 479, 940, 1091, 1558, 1577, 12]),
    line(Compressor::Zlib, 2, [398, 671, 1898, 4154, 7557, 8569, 9227, 803], [401, 356, 368, 811, 1612, 1795, 1738, 12]),
    line(Compressor::Zlib, 3, [413, 725, 2180, 5566, 11134, 8750, 9286, 811], [409, 368, 392, 931, 1511, 1796, 1735, 13]),
    line(Compressor::Zlib, 4, [413, 765, 2589, 7159, 11496, 8658, 9209, 808], [390, 334, 374, 956, 1484, 1756, 1699, 12]),
    line(Compressor::Zlib, 5, [428, 820, 2978, 7852, 11383, 9296, 9201, 795], [382, 338, 423, 981, 1476, 1794, 1494, 12]),
    line(Compressor::Zlib, 6, [465, 1060, 4217, 14464, 11885, 9618, 9358, 785], [380, 330, 408, 970, 1495, 1790, 1485, 12]),
    line(Compressor::Zlib, 7, [578, 1842, 7680, 41454, 12257, 10366, 9500, 796], [381, 336, 422, 907, 1469, 1792, 1495, 12]),
    line(Compressor::Zlib, 8, [913, 5016, 23713, 79588, 13611, 13956, 10370, 785], [378, 339, 412, 948, 1518, 1823, 1510, 12]),
    line(Compressor::Zlib, 9, [1227, 6485, 41374, 113965, 13667, 13957, 10631, 795], [382, 344, 416, 957, 1506, 1819, 1507, 12]),
    line(Compressor::Zstd, 1, [58, 160, 923, 1637, 935, 764, 682, 55], [53, 99, 424, 610, 257, 503, 510, 10]),
    line(Compressor::Zstd, 2, [42, 150, 913, 1843, 3038, 1219, 1133, 69], [46, 96, 439, 520, 531, 511, 412, 10]),
    line(Compressor::Zstd, 3, [106, 518, 2192, 5047, 6406, 4375, 3743, 151], [48, 99, 433, 671, 725, 597, 452, 12]),
    line(Compressor::Zstd, 4, [371, 1370, 5366, 11095, 16366, 6125, 4269, 149], [49, 105, 454, 573, 853, 609, 457, 12]),
    line(Compressor::Zstd, 5, [494, 2009, 9395, 19160, 17233, 7137, 5024, 161], [66, 118, 469, 592, 700, 611, 483, 14]),
    line(Compressor::Zstd, 6, [624, 4026, 21334, 61619, 53098, 16502, 10029, 1174], [60, 116, 459, 506, 735, 579, 398, 17]),
    line(Compressor::Zstd, 7, [998, 4731, 26887, 64023, 35415, 39431, 29348, 18429], [56, 126, 472, 488, 494, 667, 487, 44]),
    line(Compressor::Zstd, 8, [7138, 41735, 223754, 265845, 125230, 114910, 82767, 27785], [61, 143, 545, 489, 887, 854, 597, 47]),
    line(Compressor::Zstd, 9, [94624, 210777, 397090, 393251, 112890, 118199, 88894, 52179], [80, 166, 550, 522, 970, 1036, 598, 47]),
];
