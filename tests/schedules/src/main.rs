//! The code that several threads run, in every order in which they may meet, or in very many.
//!
//! The modules of the crate that start threads or share something are compiled here once more, with the locks, channels and
//! threads of loom or of shuttle in the place of the standard library's: those decide at each of their operations which thread
//! goes on, and try out another way each time. `../schedules.sh` tells how to run it.

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
compile_error!("choose one: --features loom, or --features shuttle");

mod check;
mod pipeline;

/// The modules are where they are in the crate; what stands in for the rest of it is as small as can be.
#[path = "../../../src/array"]
mod array {
    #[cfg(feature = "shuttle")]
    pub mod crew;
    #[cfg(feature = "shuttle")]
    pub mod pool;
    #[path = "../../tests/schedules/src/threads.rs"]
    pub mod threads;

    #[cfg(feature = "cache")]
    pub mod boxes {
        pub fn to_usize(value: u64) -> usize {
            value.try_into().unwrap()
        }
    }
}

#[path = "../../../src/file"]
mod file {
    #[allow(dead_code, reason = "not all of it is tried out")]
    pub mod pipeline;
}

#[cfg(feature = "shuttle")]
mod crew;
#[cfg(feature = "shuttle")]
mod error;

#[cfg(feature = "cache")]
mod blosc {
    pub use bloscpack::blosc::*;

    /// Of the chunks here, all have.
    pub fn has_blocks(_: &[u8]) -> bool {
        true
    }
}

#[cfg(feature = "cache")]
#[path = "../../../src/limits.rs"]
mod limits;

#[cfg(feature = "cache")]
#[path = "../../../src/dataset"]
mod dataset {
    pub mod superchunk {
        pub struct Stored {
            pub bytes: Vec<u8>,
            pub header: crate::blosc::ChunkHeader,
        }
    }

    pub mod leaf {
        mod cache;
        #[allow(dead_code, reason = "nothing is compressed here")]
        mod pool;

        #[path = "../../../tests/schedules/src/cache.rs"]
        mod models;

        pub use models::models;
    }
}

fn main() {
    let models = check::Models::new();
    pipeline::models(&models);
    #[cfg(feature = "shuttle")]
    crew::models(&models);
    #[cfg(feature = "cache")]
    dataset::leaf::models(&models);
    models.end();
}
