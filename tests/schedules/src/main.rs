//! Tests of the concurrent code under every schedule of its threads, or very many.
//!
//! The modules that start threads or share something are compiled here once more, with the locks,
//! channels and threads of loom or shuttle in place of those of the standard library. The tool
//! decides at each operation which thread continues, and tries another way each time.
//! `../schedules.sh` says how to run it.

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
compile_error!("choose one: --features loom, or --features shuttle");

/// The modules name `bloscpack_storage::parallel`, which is the one below.
extern crate self as bloscpack_storage;

mod check;
#[path = "pipeline.rs"]
mod pipeline_models;

/// The modules of the crate, all but `sync`, for which the tool is substituted.
#[allow(dead_code, reason = "the models do not use all of it")]
#[path = "../../../crates/storage/src/process.rs"]
mod process;

#[path = "../../../crates/storage/src/parallel"]
pub mod parallel {
    mod crew;
    mod panicked;
    #[allow(dead_code, reason = "the models do not use all of it")]
    mod pipeline;
    mod pool;
    #[allow(dead_code, reason = "loom does not use all of it")]
    mod queue;
    #[cfg(feature = "shuttle")]
    mod scoped;
    #[path = "../../../../tests/schedules/src/sync.rs"]
    pub mod sync;

    pub use {crew::Crew, panicked::Panicked, pipeline::Pipeline, pool::Pool};
    #[cfg(feature = "shuttle")]
    pub use {scoped::for_each, scoped::map_in_order};
}

#[cfg(feature = "shuttle")]
#[path = "parallel.rs"]
mod parallel_models;

/// As much of the stores of chunks as the cache needs.
#[cfg(feature = "cache")]
mod store {
    use bytes::Bytes;

    pub struct Buffer<'a>(pub &'a [u8]);

    impl Buffer<'_> {
        pub fn bytes(&self) -> &[u8] {
            self.0
        }

        pub fn keep(&self) -> Bytes {
            Bytes::copy_from_slice(self.0)
        }
    }

    #[allow(dead_code, reason = "all chunks here are compressed")]
    pub enum Loaded {
        Fill,
        Data,
        Blosc {
            header: blosc1::ChunkHeader,
            is_complete: bool,
        },
    }
}

#[cfg(feature = "cache")]
#[path = "../../../crates/array/src"]
mod array {
    #[allow(dead_code, reason = "nothing is read ahead here")]
    mod cache;

    #[path = "../../../tests/schedules/src/cache.rs"]
    mod models;

    pub use models::models;
}

#[cfg(feature = "readers")]
mod readers;
#[cfg(feature = "readers")]
mod steps;

fn main() {
    let models = check::Models::new();
    pipeline_models::models(&models);
    #[cfg(feature = "shuttle")]
    parallel_models::models(&models);
    #[cfg(feature = "cache")]
    array::models(&models);
    #[cfg(feature = "readers")]
    readers::models(&models);
    models.end();
}
