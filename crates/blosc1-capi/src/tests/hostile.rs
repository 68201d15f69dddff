//! Damaged chunks: every call ends, with a number, and within the chunk and the output. AddressSanitizer sees
//! each access, since the chunk is an allocation of exactly its length.

use std::os::raw::c_int;

use testkit::oracle::{Kind, Random};

use super::{Arguments, OURS};
use crate::header::blosc_cbuffer_validate;

/// Changes some bytes, most often in the header, the table, or the lengths of streams.
fn mutate(random: &mut Random, chunk: &mut Vec<u8>) {
    for _ in 0..=random.below(3) {
        let span = match random.below(3) {
            0 => 16,
            1 => 80.min(chunk.len()),
            _ => chunk.len(),
        };
        let at = random.below(span);
        chunk[at] = match random.below(4) {
            0 => chunk[at] ^ (1 << random.below(8)),
            1 => random.pick(&[0, 1, 0x7F, 0x80, 0xFF]),
            _ => random.below(256) as u8,
        };
    }
    if random.below(8) == 0 {
        chunk.truncate(16 + random.below(chunk.len() - 15));
    }
    // Half of the chunks keep the right length, so that the damage goes deeper.
    if random.below(2) == 0 {
        let len = chunk.len() as u32;
        chunk[12..16].copy_from_slice(&len.to_le_bytes());
    }
}

#[test]
fn a_mutated_chunk_is_read_within_its_bounds() {
    let mut random = Random::new(65);
    let (mut read, mut refused, mut invalid) = (0, 0, 0);
    // `BLOSCPACK_MUTATED` sets the number of chunks where each takes long, or for a long run.
    let cases = match std::env::var("BLOSCPACK_MUTATED") {
        Ok(cases) => cases.parse().unwrap(),
        Err(_) => testkit::effort::cases(100_000, 20),
    };
    for _ in 0..cases {
        let arguments = Arguments::sound(&mut random);
        let len = 1 + random.below(3000);
        let data = random.pick(&Kind::ALL).data(&mut random, len);
        let (_, mut chunk) = OURS.compress(&arguments, &data, data.len() + 16);
        mutate(&mut random, &mut chunk);
        let chunk = chunk.into_boxed_slice();
        let mut nbytes = 0;
        // SAFETY: the chunk has the length given.
        let valid =
            unsafe { blosc_cbuffer_validate(chunk.as_ptr().cast(), chunk.len(), &mut nbytes) };
        if valid != 0 {
            // The caller must not decompress it.
            invalid += 1;
            continue;
        }
        let room = random.pick(&[data.len(), nbytes.min(1 << 20), 100]);
        let (len, _) = OURS.decompress(&chunk, room, arguments.threads);
        assert!(len <= room as c_int);
        *(if len < 0 { &mut refused } else { &mut read }) += 1;
        let typesize = usize::from(chunk[3]);
        let (start, count) = (random.below(50) as c_int, random.below(50));
        let (len, _) = OURS.getitem(&chunk, start, count as c_int, count * typesize);
        assert!(len < 0 || len as usize == count * typesize);
    }
    println!("{read} read, {refused} refused, {invalid} invalid");
    assert!(read > 0 && refused > read / 4 && invalid > 0);
}
