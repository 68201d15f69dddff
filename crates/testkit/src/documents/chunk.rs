//! One Blosc 1 chunk, by the table of its header.

use crate::oracle;

const HEADER: usize = 16;
const COPIED: u8 = 0x02;
const BIT_SHUFFLED: u8 = 0x04;
const NOT_SPLIT: u8 = 0x10;

/// A chunk whose header has been checked.
pub struct Chunk<'a> {
    pub bytes: &'a [u8],
    pub flags: u8,
    pub typesize: u8,
    pub nbytes: usize,
    pub blocksize: usize,
}

impl<'a> Chunk<'a> {
    /// The chunk that begins here; `of` says whose it is.
    pub fn at(file: &'a [u8], at: usize, of: &str) -> Self {
        let of = format!("{of}: chunk at byte {at}");
        assert!(at + HEADER <= file.len(), "{of}: header cut");
        let length = |from: usize| super::int32(file, at + from).try_into();
        let length = |from| -> usize { length(from).unwrap_or_else(|_| panic!("{of}: negative")) };
        let (nbytes, blocksize, ctbytes) = (length(4), length(8), length(12));
        let [version, coder_version, flags, typesize] = file[at..at + 4] else {
            unreachable!()
        };
        assert_eq!((version, coder_version), (2, 1), "{of}: versions");
        assert!(
            flags & 0x08 == 0 && flags >> 5 <= 4,
            "{of}: flags {flags:#x}"
        );
        assert!(typesize > 0, "{of}: typesize 0");
        let longest = nbytes + HEADER;
        let fits = (HEADER..=longest).contains(&ctbytes) && at + ctbytes <= file.len();
        assert!(fits, "{of}: ctbytes {ctbytes}, nbytes {nbytes}");
        assert!(
            flags & COPIED == 0 || ctbytes == longest,
            "{of}: a copy of {ctbytes}"
        );
        let bytes = &file[at..at + ctbytes];
        Self {
            bytes,
            flags,
            typesize,
            nbytes,
            blocksize,
        }
    }

    /// The decompressed data.
    pub fn data(&self) -> Vec<u8> {
        if self.flags & COPIED != 0 {
            return self.bytes[HEADER..].to_vec();
        }
        oracle::decompress(self.bytes, self.nbytes)
    }

    /// C-Blosc 1.3 can read it, which knows neither bitshuffle nor zstd, and splits each block of
    /// enough small elements, whatever a flag says.
    pub fn suits_blosc_1_3(&self, of: &str) {
        assert!(self.flags >> 5 <= 3, "{of}: zstd");
        if self.flags & COPIED != 0 {
            return;
        }
        assert_eq!(self.flags & BIT_SHUFFLED, 0, "{of}: bitshuffle");
        let typesize = usize::from(self.typesize);
        let splits = typesize <= 16 && self.blocksize / typesize >= 128;
        let contrary = splits && self.flags & NOT_SPLIT != 0;
        assert!(!contrary, "{of}: blocks that are not split");
    }
}
