//! [`MemoryStore`]: a store that is gone when the program ends.

/// Files in folders, in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {}
