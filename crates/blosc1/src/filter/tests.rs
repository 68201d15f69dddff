//! Compares the kernels with the layouts as the format defines them, bit by bit.

use super::kernels::Kernels;
use super::select::available;
use super::*;
use crate::peer;

/// Pseudo-random bytes (xorshift).
fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// Shuffle as defined by the format.
fn shuffled(typesize: usize, src: &[u8]) -> Vec<u8> {
    let n = src.len() / typesize;
    let mut out = src.to_vec();
    for e in 0..n {
        for j in 0..typesize {
            out[j * n + e] = src[e * typesize + j];
        }
    }
    out
}

/// Bitshuffle as defined by the format.
fn bitshuffled(typesize: usize, src: &[u8]) -> Vec<u8> {
    let n = src.len() / typesize;
    let mut out = src.to_vec();
    if !n.is_multiple_of(8) {
        return out;
    }
    out[..n * typesize].fill(0);
    for e in 0..n {
        for j in 0..typesize {
            for k in 0..8 {
                let bit = src[e * typesize + j] >> k & 1;
                out[(8 * j + k) * (n / 8) + e / 8] |= bit << (e % 8);
            }
        }
    }
    out
}

/// All sets of kernels that this processor can run.
fn sets() -> Vec<Kernels> {
    available().collect()
}

/// Checks all sets of kernels, at an odd address, against the definitions and back.
fn check(sets: &[Kernels], typesize: usize, len: usize) {
    let data = noise(len + 1, (typesize * 1_000_003 + len) as u64);
    let src = &data[1..];
    let (bytes, bits) = (shuffled(typesize, src), bitshuffled(typesize, src));
    let mut room = vec![0; len + 2];
    for set in sets {
        let mut run = |filter: &dyn Fn(&mut [u8]), want: &[u8], what| {
            room.fill(0xa5);
            filter(&mut room[1..=len]);
            let at = format!("{} {what}, typesize {typesize}, {len} bytes", set.name);
            assert!(&room[1..=len] == want, "{at}");
            assert_eq!((room[0], room[len + 1]), (0xa5, 0xa5), "{at}");
        };
        run(&|to| set.shuffle(typesize, src, to), &bytes, "shuffle");
        run(&|to| set.unshuffle(typesize, &bytes, to), src, "unshuffle");
        run(&|to| set.bitshuffle(typesize, src, to), &bits, "bitshuffle");
        run(
            &|to| set.bitunshuffle(typesize, &bits, to),
            src,
            "bitunshuffle",
        );
    }
}

/// All cases, or in a normal run some of them; fewer still under valgrind, where each takes fifty times as long.
fn some<T>(cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let is_few = std::env::var_os("BLOSCPACK_FEW_CASES").is_some();
    let one_in = match (is_few, peer::is_whole()) {
        (true, _) => 13,
        (false, false) => 5,
        (false, true) => 1,
    };
    cases.into_iter().step_by(one_in)
}

#[test]
fn every_typesize_and_short_length() {
    let sets = sets();
    for typesize in 1..=255 {
        for len in some(0..300) {
            check(&sets, typesize, len);
        }
    }
}

#[test]
fn whole_elements_around_the_steps_of_all_kernels() {
    let sets = sets();
    for typesize in 1..=33 {
        for count in some((0..=1100).filter(|n| n % 8 == 0 || n % 61 == 0 || n % 64 == 63)) {
            check(&sets, typesize, count * typesize);
        }
    }
}

#[test]
fn longer_blocks_with_leftovers() {
    let sets = sets();
    let mut lens = noise(4 * 255, 7).into_iter();
    let mut draw = || usize::from(lens.next().unwrap());
    for typesize in some(1..=255) {
        let count = draw() * 8 + draw() % 2;
        check(&sets, typesize, count * typesize + draw() % typesize);
    }
}

#[test]
fn blocks_of_several_tiles_at_a_time() {
    let sets = sets();
    for typesize in some([1, 2, 3, 4, 7, 8, 9, 12, 16, 17, 40].into_iter().rev()) {
        for count in some([4088, 4096, 4104, 3 * 4096 - 8, 5 * 512 + 24]) {
            // As many elements more as make the block a large one.
            let tiles = 65_536_usize.div_ceil(typesize).next_multiple_of(4096);
            check(&sets, typesize, (tiles + count) * typesize + typesize / 2);
        }
        for len in some(65_520..65_552) {
            check(&sets, typesize, len);
        }
    }
}

#[test]
fn a_block_smaller_than_one_element_stays() {
    for typesize in [2, 8, 200] {
        let src = noise(typesize - 1, 3);
        let mut dst = vec![0; src.len()];
        bitshuffle(typesize, &src, &mut dst);
        assert_eq!(dst, src);
        shuffle(typesize, &src, &mut dst);
        assert_eq!(dst, src);
    }
}

#[test]
fn what_blosc_1_writes_by_hand() {
    // Two elements of two bytes, and a byte that is not a whole element.
    let mut dst = [0; 5];
    shuffle(2, &[0x11, 0x22, 0x33, 0x44, 0x55], &mut dst);
    assert_eq!(dst, [0x11, 0x33, 0x22, 0x44, 0x55]);
    // Eight elements of one byte: element 0 has bit 0, element 7 has bit 1.
    let mut dst = [0; 8];
    bitshuffle(1, &[1, 0, 0, 0, 0, 0, 0, 2], &mut dst);
    assert_eq!(dst, [1, 0x80, 0, 0, 0, 0, 0, 0]);
    // Seven elements: left alone.
    let mut dst = [0; 7];
    bitshuffle(1, &[1, 2, 3, 4, 5, 6, 7], &mut dst);
    assert_eq!(dst, [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
#[should_panic = "equal length"]
fn unequal_lengths_are_refused() {
    shuffle(4, &[0; 64], &mut [0; 63]);
}
