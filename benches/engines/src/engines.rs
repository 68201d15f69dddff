//! The engines, each as one function.

/// Decodes a chunk into a slice of the data's length, and returns whether it reports success.
type Decode = fn(&[u8], &mut [u8]) -> bool;

pub struct Engine {
    pub name: &'static str,
    pub decode: Decode,
}

/// Ours is the first.
#[cfg(feature = "c-blosc")]
pub const ENGINES: &[Engine] = &[
    Engine {
        name: "blosc1",
        decode: blosc1,
    },
    Engine {
        name: "blosc-src",
        decode: c_blosc,
    },
    Engine {
        name: "blosc2-pure-rs",
        decode: blosc2_pure,
    },
    Engine {
        name: "blusc",
        decode: blusc,
    },
];

#[cfg(not(feature = "c-blosc"))]
pub const ENGINES: &[Engine] = &[
    Engine {
        name: "blosc1",
        decode: blosc1,
    },
    #[cfg(feature = "c-blosc2")]
    Engine {
        name: "blosc2-rs",
        decode: c_blosc2,
    },
];

fn blosc1(chunk: &[u8], out: &mut [u8]) -> bool {
    blosc1::decompress_into(chunk, out).is_ok()
}

#[cfg(feature = "c-blosc")]
fn c_blosc(chunk: &[u8], out: &mut [u8]) -> bool {
    // SAFETY: the chunk is whole, and `out` is valid for the length given.
    let len = unsafe {
        blosc_src::blosc_decompress_ctx(
            chunk.as_ptr().cast(),
            out.as_mut_ptr().cast(),
            out.len(),
            1,
        )
    };
    usize::try_from(len) == Ok(out.len())
}

#[cfg(feature = "c-blosc")]
fn blosc2_pure(chunk: &[u8], out: &mut [u8]) -> bool {
    blosc2_pure_rs::compress::decompress_into(chunk, out) == Ok(out.len())
}

#[cfg(feature = "c-blosc")]
fn blusc(chunk: &[u8], out: &mut [u8]) -> bool {
    usize::try_from(blusc::blosc1_decompress(chunk, out)) == Ok(out.len())
}

#[cfg(all(feature = "c-blosc2", not(feature = "c-blosc")))]
fn c_blosc2(chunk: &[u8], out: &mut [u8]) -> bool {
    let mut decoder = blosc1::ChunkDecoder::new().engine(blosc1::Engine::CBlosc2);
    decoder.decode(chunk, out).is_ok()
}
