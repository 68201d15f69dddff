//! The nine checksums of the documents by their numbers: those of Python's zlib and hashlib.

use sha2::Digest as _;

/// The digest as stored in a file.
pub fn digest(checksum: u8, bytes: &[u8]) -> Vec<u8> {
    match checksum {
        0 => Vec::new(),
        1 => adler32(bytes).to_le_bytes().to_vec(),
        2 => crc32(bytes).to_le_bytes().to_vec(),
        3 => md5::Md5::digest(bytes).to_vec(),
        4 => sha1::Sha1::digest(bytes).to_vec(),
        5 => sha2::Sha224::digest(bytes).to_vec(),
        6 => sha2::Sha256::digest(bytes).to_vec(),
        7 => sha2::Sha384::digest(bytes).to_vec(),
        8 => sha2::Sha512::digest(bytes).to_vec(),
        other => panic!("checksum {other}, but there are nine, from 0 to 8"),
    }
}

fn adler32(bytes: &[u8]) -> u32 {
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    (b << 16) | a
}

pub fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| (crc >> 1) ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 };
    let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc));
    !bytes.iter().fold(!0, byte)
}
