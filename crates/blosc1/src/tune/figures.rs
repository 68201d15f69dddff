//! The measurements on which the cost model is based.
//!
//! `cargo bench --bench auto -- calibrate` prints them: the time of one thread for a byte of a
//! stream of 128 KiB, in picoseconds, by the compression ratio of the stream. The streams are
//! numbers, text and noise, unfiltered, shuffled and bitshuffled. The measurements are from
//! November 2026, on one core of a shared x86-64 server (AVX-512), the best of seven rounds. Other
//! machines have other figures, but only the relations between them matter.

use crate::Compressor;

/// The compressed size, in thousandths of the length, of the streams for which a row has figures. A
/// row has two more: see [`Figures`].
pub(super) const KNOTS: [u64; 8] = [5, 15, 40, 100, 250, 500, 750, 1000];

/// Picoseconds per byte: of constant streams, of compressed streams by [`KNOTS`], and of streams
/// that the compressor gave up, which are stored.
pub(super) type Figures = [u64; KNOTS.len() + 2];

/// The figures of one compressor at one level.
pub(super) struct Row {
    compressor: Compressor,
    level: u8,
    pub encode: Figures,
    pub decode: Figures,
}

/// The figures of a compressor at a level; `None` for level 0, which only copies.
pub(super) fn row(compressor: Compressor, level: u8) -> Option<&'static Row> {
    ROWS.iter()
        .find(|row| row.compressor == compressor && row.level == level)
}

/// Picoseconds per byte of a copy, when compressing and when decompressing.
pub(super) const COPY: (u64, u64) = (12, 12);

/// Additional picoseconds of memory access, per byte of data and per byte of its compressed form:
/// when compressing, and when decompressing.
pub(super) const MEMORY: [(u64, u64); 2] = [(25, 65), (7, 30)];

/// Picoseconds per byte of byte shuffle and of its inverse.
pub(super) const fn shuffle(typesize: u8) -> (u64, u64) {
    match typesize {
        0..16 => (21, 18),
        16..24 => (59, 30),
        24.. => (100, 41),
    }
}

/// Picoseconds per byte of bitshuffle and of its inverse.
pub(super) const fn bitshuffle(typesize: u8) -> (u64, u64) {
    match typesize {
        0 | 1 => (44, 42),
        2..16 => (110, 50),
        16.. => (57, 43),
    }
}

/// One row of the table below.
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
    line(Compressor::Blosclz, 1, [14, 33, 38, 137, 451, 1550, 1939, 1698, 1677, 17], [12, 15, 16, 64, 128, 622, 671, 596, 595, 13]),
    line(Compressor::Blosclz, 2, [14, 32, 38, 139, 437, 1616, 1957, 1896, 1903, 19], [12, 15, 17, 64, 126, 639, 665, 377, 364, 15]),
    line(Compressor::Blosclz, 3, [14, 32, 38, 151, 443, 1613, 1994, 1731, 1177, 19], [12, 15, 16, 68, 128, 642, 664, 327, 228, 13]),
    line(Compressor::Blosclz, 4, [14, 33, 38, 147, 440, 1630, 2103, 2294, 1203, 19], [12, 15, 17, 67, 127, 642, 680, 472, 235, 12]),
    line(Compressor::Blosclz, 5, [14, 33, 39, 150, 446, 1627, 2128, 2303, 1208, 19], [12, 15, 17, 68, 127, 648, 685, 477, 232, 15]),
    line(Compressor::Blosclz, 6, [14, 33, 39, 165, 644, 2195, 3135, 2696, 1544, 19], [12, 14, 16, 63, 125, 589, 732, 427, 245, 15]),
    line(Compressor::Blosclz, 7, [14, 33, 39, 169, 638, 2241, 3132, 2856, 1945, 22], [12, 14, 16, 62, 125, 595, 733, 438, 297, 15]),
    line(Compressor::Blosclz, 8, [14, 34, 40, 160, 637, 2269, 3139, 3133, 2341, 26], [12, 14, 16, 61, 125, 601, 733, 448, 329, 15]),
    line(Compressor::Blosclz, 9, [14, 33, 39, 158, 630, 2266, 3125, 3100, 2303, 25], [12, 14, 16, 61, 124, 596, 731, 448, 327, 13]),
    line(Compressor::Lz4, 1, [14, 52, 56, 100, 239, 502, 997, 451, 192, 54], [11, 15, 19, 38, 87, 190, 458, 137, 44, 13]),
    line(Compressor::Lz4, 2, [14, 43, 50, 93, 232, 502, 1013, 431, 207, 55], [11, 15, 19, 36, 85, 185, 450, 136, 52, 13]),
    line(Compressor::Lz4, 3, [14, 50, 61, 98, 240, 511, 1039, 416, 213, 57], [12, 15, 19, 38, 89, 189, 452, 131, 48, 13]),
    line(Compressor::Lz4, 4, [14, 50, 61, 90, 242, 508, 1053, 403, 240, 57], [12, 15, 19, 35, 88, 192, 444, 130, 56, 15]),
    line(Compressor::Lz4, 5, [14, 44, 51, 92, 242, 530, 1058, 384, 243, 58], [11, 15, 19, 36, 88, 193, 438, 123, 52, 15]),
    line(Compressor::Lz4, 6, [14, 44, 51, 111, 245, 532, 1049, 391, 270, 58], [11, 15, 19, 42, 89, 196, 437, 122, 54, 15]),
    line(Compressor::Lz4, 7, [14, 50, 61, 87, 243, 548, 1047, 413, 328, 58], [11, 15, 19, 34, 89, 200, 436, 122, 61, 15]),
    line(Compressor::Lz4, 8, [14, 48, 57, 93, 247, 573, 1075, 483, 371, 58], [12, 15, 20, 36, 89, 198, 443, 121, 62, 15]),
    line(Compressor::Lz4, 9, [14, 44, 51, 85, 249, 603, 1093, 686, 505, 59], [12, 15, 19, 33, 89, 208, 451, 147, 80, 15]),
    line(Compressor::Lz4hc, 1, [14, 114, 118, 198, 366, 1637, 2457, 3270, 3908, 802], [11, 15, 18, 41, 87, 262, 467, 242, 126, 15]),
    line(Compressor::Lz4hc, 2, [14, 113, 118, 198, 368, 1641, 2433, 3283, 3927, 803], [11, 15, 18, 40, 87, 257, 465, 243, 126, 15]),
    line(Compressor::Lz4hc, 3, [14, 757, 921, 1986, 3780, 6636, 7711, 13194, 14785, 817], [11, 14, 20, 65, 147, 300, 515, 229, 181, 15]),
    line(Compressor::Lz4hc, 4, [14, 837, 1107, 2515, 5660, 8911, 11175, 15314, 15551, 816], [11, 14, 21, 77, 147, 267, 495, 214, 180, 15]),
    line(Compressor::Lz4hc, 5, [14, 947, 1395, 3443, 8526, 13304, 17352, 16963, 15866, 810], [11, 14, 22, 84, 144, 250, 481, 207, 181, 15]),
    line(Compressor::Lz4hc, 6, [14, 1278, 1996, 5015, 13357, 21620, 24457, 18209, 16097, 811], [12, 15, 25, 91, 146, 241, 494, 210, 180, 15]),
    line(Compressor::Lz4hc, 7, [14, 1700, 2770, 7165, 20210, 36727, 35004, 19051, 16170, 808], [11, 13, 24, 90, 142, 229, 506, 205, 180, 15]),
    line(Compressor::Lz4hc, 8, [14, 2404, 3922, 9874, 30805, 65555, 54691, 20839, 16639, 796], [11, 14, 25, 95, 141, 222, 536, 203, 175, 15]),
    line(Compressor::Lz4hc, 9, [14, 1108, 2757, 18640, 64613, 142944, 74523, 24441, 17670, 792], [11, 14, 25, 95, 150, 215, 553, 204, 176, 15]),
    line(Compressor::Snappy, 1, [16, 568, 69, 56, 229, 763, 1399, 1418, 424, 28], [398, 419, 302, 281, 292, 526, 728, 592, 181, 13]),
    line(Compressor::Snappy, 2, [16, 568, 69, 56, 227, 769, 1399, 1421, 425, 28], [397, 418, 301, 281, 290, 525, 725, 594, 181, 12]),
    line(Compressor::Snappy, 3, [16, 571, 68, 55, 228, 765, 1405, 1441, 433, 28], [395, 419, 301, 280, 292, 528, 728, 599, 184, 13]),
    line(Compressor::Snappy, 4, [16, 573, 69, 56, 230, 774, 1420, 1418, 425, 28], [401, 422, 304, 284, 292, 532, 735, 594, 182, 13]),
    line(Compressor::Snappy, 5, [16, 570, 69, 56, 228, 767, 1411, 1416, 424, 28], [398, 419, 304, 283, 291, 527, 731, 592, 181, 13]),
    line(Compressor::Snappy, 6, [16, 577, 70, 57, 231, 771, 1421, 1449, 437, 28], [401, 424, 305, 285, 296, 531, 736, 602, 184, 13]),
    line(Compressor::Snappy, 7, [16, 571, 69, 56, 229, 769, 1410, 1431, 432, 28], [399, 419, 304, 283, 292, 527, 728, 591, 182, 13]),
    line(Compressor::Snappy, 8, [16, 571, 69, 56, 230, 765, 1404, 1420, 425, 28], [395, 420, 302, 281, 294, 522, 728, 592, 181, 13]),
    line(Compressor::Snappy, 9, [16, 567, 69, 56, 226, 761, 1400, 1419, 423, 28], [395, 417, 302, 281, 289, 522, 726, 590, 180, 15]),
    line(Compressor::Zlib, 1, [14, 2112, 2040, 2251, 2413, 3129, 3469, 6382, 6645, 793], [489, 277, 192, 323, 392, 915, 1154, 1668, 1651, 15]),
    line(Compressor::Zlib, 2, [14, 1015, 1014, 1314, 1967, 4885, 8936, 8740, 9337, 790], [482, 263, 180, 251, 316, 899, 1859, 1811, 1700, 15]),
    line(Compressor::Zlib, 3, [14, 1028, 1026, 1387, 2271, 6832, 16253, 8873, 9383, 792], [487, 265, 183, 291, 340, 1057, 1842, 1807, 1707, 15]),
    line(Compressor::Zlib, 4, [14, 1054, 1052, 1516, 2873, 9345, 17061, 9094, 9522, 803], [470, 268, 185, 188, 346, 1120, 1855, 1824, 1726, 15]),
    line(Compressor::Zlib, 5, [14, 1027, 1116, 1738, 3374, 10312, 16784, 9718, 9495, 794], [460, 263, 157, 216, 392, 1141, 1819, 1838, 1489, 15]),
    line(Compressor::Zlib, 6, [14, 1051, 1285, 2304, 4937, 20301, 17493, 10203, 9701, 793], [468, 266, 157, 193, 391, 1121, 1851, 1856, 1500, 15]),
    line(Compressor::Zlib, 7, [14, 1101, 1652, 4703, 8888, 60212, 17819, 11148, 9909, 802], [469, 268, 155, 214, 428, 1051, 1833, 1872, 1502, 15]),
    line(Compressor::Zlib, 8, [14, 1279, 2911, 11565, 22149, 109567, 18854, 14175, 11006, 795], [471, 268, 140, 282, 428, 1101, 1840, 1892, 1506, 15]),
    line(Compressor::Zlib, 9, [14, 1430, 4165, 19254, 37873, 133583, 19289, 15322, 11273, 797], [469, 265, 137, 285, 427, 1111, 1848, 1854, 1489, 15]),
    line(Compressor::Zstd, 1, [15, 86, 170, 409, 1317, 2181, 1412, 842, 773, 59], [44, 65, 103, 229, 615, 822, 408, 579, 615, 13]),
    line(Compressor::Zstd, 2, [15, 91, 158, 412, 1399, 2584, 4308, 1377, 1269, 73], [44, 51, 77, 206, 651, 734, 760, 604, 487, 13]),
    line(Compressor::Zstd, 3, [15, 94, 719, 1699, 3048, 7035, 8875, 5068, 4377, 163], [44, 53, 81, 257, 636, 960, 998, 674, 523, 17]),
    line(Compressor::Zstd, 4, [15, 574, 2251, 3894, 7964, 14997, 17873, 6655, 5065, 167], [45, 53, 81, 262, 691, 769, 979, 673, 530, 21]),
    line(Compressor::Zstd, 5, [15, 644, 2774, 5530, 12829, 25780, 25207, 7893, 5662, 172], [44, 79, 93, 233, 685, 682, 949, 669, 532, 22]),
    line(Compressor::Zstd, 6, [15, 316, 3895, 11916, 25400, 77652, 52228, 18787, 11209, 1306], [44, 76, 116, 253, 695, 675, 1009, 651, 438, 20]),
    line(Compressor::Zstd, 7, [15, 1876, 6499, 13240, 31043, 88819, 50598, 33532, 24057, 17450], [44, 64, 121, 314, 655, 610, 752, 722, 495, 32]),
    line(Compressor::Zstd, 8, [15, 2529, 29096, 82982, 154885, 141390, 64823, 51564, 37047, 25013], [45, 48, 151, 342, 640, 606, 1291, 927, 627, 40]),
    line(Compressor::Zstd, 9, [16, 125047, 692112, 356133, 478528, 330958, 159167, 113927, 74181, 50625], [67, 70, 244, 369, 640, 623, 1402, 1150, 657, 49]),
];
