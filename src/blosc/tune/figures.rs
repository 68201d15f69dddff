//! The figures that the cost model stands on.
//!
//! `cargo bench --bench auto -- calibrate` prints them: the time of one thread for a byte of a stream of
//! 128 KiB, in picoseconds, by how far the stream shrank. The streams are those of numbers, text and
//! noise, plain, shuffled and bitshuffled. These are of a run of November 2026 on one core of a shared
//! x86-64 server (AVX-512), best of five rounds. Another machine has others; what counts here is how
//! they compare.

use crate::blosc::Compressor;

/// Compressed to so many thousandths of its length: what the figures of a row stand for, but the first
/// and the last.
pub(super) const KNOTS: [u64; 7] = [0, 30, 100, 250, 500, 750, 1000];

/// Picoseconds a byte: of streams of one value, of others by how far they shrank, and of those that the
/// compressor gave up, which are stored.
pub(super) type Figures = [u64; KNOTS.len() + 2];

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

/// What it takes to bring data in and out beside that, for a byte of data and for a byte of what became
/// of it: compressing, and decompressing.
pub(super) const MEMORY: [(u64, u64); 2] = [(25, 65), (7, 30)];

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
    line(Compressor::Blosclz, 1, [11, 32, 75, 472, 1536, 1948, 1681, 1634, 14], [8, 12, 26, 147, 651, 741, 620, 609, 12]),
    line(Compressor::Blosclz, 2, [11, 33, 76, 479, 1657, 1965, 1970, 1984, 16], [8, 12, 25, 145, 701, 730, 396, 382, 12]),
    line(Compressor::Blosclz, 3, [11, 33, 78, 476, 1636, 2018, 1816, 1261, 16], [8, 12, 27, 147, 655, 718, 347, 250, 9]),
    line(Compressor::Blosclz, 4, [11, 33, 78, 469, 1629, 2119, 2306, 1218, 16], [8, 13, 26, 143, 661, 727, 490, 238, 12]),
    line(Compressor::Blosclz, 5, [11, 33, 79, 472, 1647, 2122, 2309, 1221, 16], [8, 13, 26, 143, 654, 724, 490, 240, 12]),
    line(Compressor::Blosclz, 6, [11, 35, 95, 676, 2215, 3154, 2718, 1610, 16], [9, 12, 25, 150, 594, 775, 447, 262, 12]),
    line(Compressor::Blosclz, 7, [11, 34, 93, 692, 2266, 3220, 2944, 2025, 19], [9, 12, 26, 152, 593, 787, 466, 313, 12]),
    line(Compressor::Blosclz, 8, [11, 34, 95, 673, 2284, 3139, 3095, 2350, 22], [8, 12, 25, 149, 595, 768, 458, 334, 12]),
    line(Compressor::Blosclz, 9, [11, 34, 92, 672, 2277, 3143, 3121, 2363, 22], [9, 12, 25, 148, 592, 769, 463, 336, 12]),
    line(Compressor::Lz4, 1, [11, 45, 62, 236, 561, 1023, 477, 187, 51], [8, 13, 19, 86, 228, 450, 136, 40, 12]),
    line(Compressor::Lz4, 2, [11, 48, 64, 235, 563, 1028, 438, 198, 52], [8, 13, 19, 85, 225, 442, 132, 47, 11]),
    line(Compressor::Lz4, 3, [11, 43, 59, 235, 565, 1043, 417, 208, 52], [8, 13, 19, 86, 224, 436, 126, 43, 12]),
    line(Compressor::Lz4, 4, [11, 43, 58, 236, 584, 1066, 406, 237, 53], [8, 13, 19, 86, 228, 431, 125, 52, 12]),
    line(Compressor::Lz4, 5, [11, 44, 62, 245, 590, 1088, 392, 255, 54], [8, 13, 20, 91, 232, 430, 121, 49, 12]),
    line(Compressor::Lz4, 6, [11, 46, 62, 239, 599, 1079, 405, 286, 53], [8, 13, 19, 87, 230, 429, 120, 53, 12]),
    line(Compressor::Lz4, 7, [11, 43, 58, 238, 608, 1081, 421, 348, 55], [8, 13, 19, 87, 234, 428, 120, 63, 12]),
    line(Compressor::Lz4, 8, [11, 43, 59, 242, 623, 1073, 490, 375, 54], [8, 13, 20, 87, 235, 427, 120, 61, 12]),
    line(Compressor::Lz4, 9, [11, 42, 58, 238, 670, 1088, 691, 498, 54], [8, 13, 19, 86, 238, 429, 143, 74, 9]),
    line(Compressor::Lz4hc, 1, [11, 111, 133, 366, 1618, 2411, 3242, 3874, 783], [8, 13, 20, 83, 269, 444, 234, 118, 12]),
    line(Compressor::Lz4hc, 2, [11, 111, 133, 372, 1633, 2407, 3275, 3928, 790], [8, 13, 21, 85, 267, 444, 236, 119, 12]),
    line(Compressor::Lz4hc, 3, [12, 1058, 1419, 3515, 7156, 8689, 13714, 15923, 1446], [11, 19, 37, 139, 300, 511, 241, 195, 17]),
    line(Compressor::Lz4hc, 4, [11, 973, 1535, 5063, 9215, 11378, 15113, 15439, 838], [8, 15, 37, 140, 261, 473, 218, 186, 12]),
    line(Compressor::Lz4hc, 5, [11, 1178, 1984, 7199, 13833, 17488, 16903, 15776, 1427], [8, 16, 40, 140, 245, 471, 212, 181, 13]),
    line(Compressor::Lz4hc, 6, [11, 1547, 2758, 10507, 21698, 23623, 17955, 15927, 836], [8, 16, 42, 145, 237, 472, 211, 178, 12]),
    line(Compressor::Lz4hc, 7, [11, 2258, 4143, 15637, 35058, 35414, 19267, 16302, 833], [8, 17, 43, 145, 229, 495, 210, 179, 12]),
    line(Compressor::Lz4hc, 8, [11, 3226, 6081, 23496, 59297, 58054, 21296, 16960, 846], [8, 18, 47, 145, 226, 531, 218, 183, 12]),
    line(Compressor::Lz4hc, 9, [12, 2904, 10103, 54585, 127426, 81464, 27067, 19066, 848], [12, 26, 57, 159, 251, 583, 253, 197, 12]),
    line(Compressor::Snappy, 1, [13, 53, 59, 208, 805, 1418, 1457, 414, 24], [397, 278, 274, 303, 531, 736, 590, 170, 9]),
    line(Compressor::Snappy, 2, [13, 54, 60, 209, 802, 1425, 1452, 413, 24], [398, 279, 275, 304, 534, 735, 588, 170, 9]),
    line(Compressor::Snappy, 3, [13, 54, 60, 208, 802, 1424, 1446, 414, 25], [396, 279, 274, 303, 533, 735, 586, 170, 9]),
    line(Compressor::Snappy, 4, [13, 54, 60, 207, 813, 1420, 1451, 415, 25], [396, 277, 273, 303, 531, 733, 584, 170, 12]),
    line(Compressor::Snappy, 5, [13, 54, 60, 207, 805, 1420, 1460, 416, 25], [396, 277, 272, 304, 526, 734, 586, 170, 12]),
    line(Compressor::Snappy, 6, [13, 55, 60, 209, 810, 1433, 1464, 416, 25], [399, 283, 278, 307, 538, 740, 586, 170, 10]),
    line(Compressor::Snappy, 7, [13, 55, 61, 206, 806, 1431, 1474, 417, 25], [396, 280, 276, 303, 536, 736, 589, 170, 10]),
    line(Compressor::Snappy, 8, [13, 54, 60, 211, 807, 1447, 1455, 413, 25], [397, 279, 274, 304, 542, 741, 588, 169, 11]),
    line(Compressor::Snappy, 9, [13, 54, 60, 213, 802, 1423, 1463, 412, 24], [399, 281, 276, 304, 534, 733, 583, 168, 11]),
    line(Compressor::Zlib, 1, [11, 2133, 2192, 2456, 3086, 3810, 6827, 7217, 847], [486, 284, 298, 440, 937, 1219, 1713, 1696, 12]),
    line(Compressor::Zlib, 2, [11, 1026, 1208, 2008, 4723, 8930, 8831, 9469, 835], [481, 271, 254, 346, 882, 1836, 1813, 1708, 12]),
    line(Compressor::Zlib, 3, [11, 1065, 1281, 2313, 6418, 16207, 8966, 9549, 833], [485, 274, 267, 363, 1015, 1849, 1804, 1707, 12]),
    line(Compressor::Zlib, 4, [11, 1070, 1360, 2937, 8869, 16978, 9192, 9642, 830], [469, 273, 238, 370, 1092, 1876, 1832, 1718, 12]),
    line(Compressor::Zlib, 5, [11, 1076, 1441, 3365, 9838, 16424, 9733, 9535, 802], [467, 266, 250, 431, 1128, 1828, 1860, 1492, 12]),
    line(Compressor::Zlib, 6, [11, 1160, 1842, 4922, 18518, 16950, 10182, 9691, 839], [474, 264, 241, 407, 1080, 1851, 1876, 1495, 12]),
    line(Compressor::Zlib, 7, [11, 1428, 3161, 9522, 69935, 18550, 10926, 9699, 839], [464, 261, 249, 424, 1017, 1831, 1846, 1482, 12]),
    line(Compressor::Zlib, 8, [11, 2211, 7027, 25127, 99196, 19237, 13726, 10584, 839], [467, 265, 257, 397, 1065, 1852, 1879, 1495, 12]),
    line(Compressor::Zlib, 9, [11, 3042, 11137, 43079, 126143, 19564, 15408, 10928, 839], [471, 266, 265, 407, 1075, 1860, 1921, 1512, 12]),
    line(Compressor::Zstd, 1, [12, 105, 256, 1117, 2246, 1453, 844, 774, 55], [41, 71, 143, 532, 848, 419, 578, 615, 10]),
    line(Compressor::Zstd, 2, [12, 109, 267, 1127, 2502, 4148, 1407, 1300, 72], [41, 56, 139, 541, 707, 735, 606, 487, 13]),
    line(Compressor::Zstd, 3, [12, 238, 888, 2652, 6855, 8797, 5040, 4379, 156], [42, 61, 145, 531, 916, 969, 674, 531, 14]),
    line(Compressor::Zstd, 4, [12, 850, 2324, 6693, 14808, 16968, 6535, 4941, 157], [41, 63, 155, 559, 763, 947, 668, 522, 14]),
    line(Compressor::Zstd, 5, [12, 1142, 3347, 11337, 25222, 24362, 7853, 5587, 165], [42, 84, 157, 552, 687, 956, 676, 536, 16]),
    line(Compressor::Zstd, 6, [12, 1530, 6816, 26518, 78029, 51793, 18909, 11218, 1286], [42, 89, 165, 554, 691, 1021, 659, 444, 16]),
    line(Compressor::Zstd, 7, [12, 2883, 8590, 33331, 94751, 53353, 35298, 25255, 17796], [41, 80, 197, 590, 663, 760, 757, 532, 34]),
    line(Compressor::Zstd, 8, [12, 11976, 42467, 134696, 146762, 65283, 53085, 38964, 25762], [41, 85, 201, 622, 638, 1214, 937, 653, 42]),
    line(Compressor::Zstd, 9, [12, 302239, 507669, 685521, 607372, 290860, 245599, 116770, 50947], [41, 136, 271, 678, 732, 1384, 1211, 676, 46]),
];
