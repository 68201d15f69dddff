//! The code that several threads run, in every order in which they may meet, or in very many.
//!
//! The modules of the workspace that start threads or share something are compiled here once more, with the locks, channels
//! and threads of loom or of shuttle in the place of the standard library's: those decide at each of their operations which
//! thread goes on, and try out another way each time. `../schedules.sh` describes how to run it.

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
compile_error!("choose one: --features loom, or --features shuttle");

// The modules name the crate from which they take their locks: here this crate provides them.
extern crate self as bloscpack_storage;

mod check;
mod models;
pub mod threads;

#[cfg(feature = "shuttle")]
#[path = "../../../crates/storage/src/crew.rs"]
pub mod crew;
#[allow(dead_code, reason = "not all of it is tried out")]
#[path = "../../../src/pipeline.rs"]
mod pipeline;
#[cfg(feature = "shuttle")]
#[path = "../../../crates/storage/src/pool.rs"]
pub mod pool;

#[cfg(feature = "cache")]
mod superchunk {
    pub struct Stored {
        pub bytes: Vec<u8>,
        pub header: blosc1::ChunkHeader,
    }
}

#[cfg(feature = "cache")]
#[path = "../../../crates/datasets/src/leaf"]
mod leaf {
    mod cache;
    #[allow(dead_code, reason = "nothing is compressed here")]
    mod pool;

    #[path = "../../../../tests/schedules/src/models/cache.rs"]
    mod models;

    pub use models::models;
}

fn main() {
    let models = check::Models::new();
    models::pipeline::models(&models);
    #[cfg(feature = "shuttle")]
    models::crew::models(&models);
    #[cfg(feature = "cache")]
    leaf::models(&models);
    models.end();
}
