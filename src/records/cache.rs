//! [`Unpacked`] and [`Cache`]: decoded packed chunks, kept for the next call.

use bloscpack_error::Error;
use bloscpack_wire::{FormatError, PackHead, Packing};
use bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// A decoded packed chunk, and the bounds of its records.
pub(crate) struct Unpacked {
    pub head: PackHead,
    bounds: Vec<u32>,
    content: Bytes,
}

impl Unpacked {
    pub(super) fn new(head: PackHead, content: Vec<u8>) -> Result<Self, FormatError> {
        Ok(Self {
            bounds: head.bounds(&content)?,
            content: content.into(),
            head,
        })
    }

    /// A record, by its number in the file.
    pub(super) fn record(&self, number: u64) -> Option<Bytes> {
        let within = usize::try_from(number.checked_sub(self.head.first)?).ok()?;
        let [from, to] = *self.bounds.get(within..)?.first_chunk()?;
        let from = usize::try_from(from).ok()?;
        let to = usize::try_from(to).ok()?;
        // `bounds` was checked to ascend within the content.
        (from <= to && to <= self.content.len()).then(|| self.content.slice(from..to))
    }

    /// All records.
    ///
    /// # Errors
    /// Returns a bug as an item if a record is not within the content.
    pub(crate) fn records(&self) -> impl Iterator<Item = bloscpack_error::Result<Bytes>> + '_ {
        let numbers = self.head.first..self.head.end();
        numbers.map(|number| {
            let record = self.record(number);
            record.ok_or_else(|| Error::bug(format!("record {number} is not in its chunk")))
        })
    }

    /// Whether the chunk may have room for another record.
    pub(super) fn has_room(&self, packing: Packing) -> bool {
        u32::try_from(self.content.len()).is_ok_and(|len| len < packing.chunk_size())
    }

    /// Bytes of memory, including the fixed cost, which exceeds the content of a tiny chunk.
    fn size(&self) -> usize {
        self.content.len() + SLOT + self.bounds.len() * size_of::<u32>()
    }
}

/// The fixed cost of a chunk: the struct, two allocations, and its entry in the cache.
const SLOT: usize = 256;

/// A chunk in the cache.
struct Slot {
    chunk: Arc<Unpacked>,
    /// Whether it was requested since the last eviction.
    used: bool,
}

/// Chunks by number, up to a maximum of bytes. Chunks that were not requested recently are evicted first.
pub(super) struct Cache {
    slots: HashMap<u64, Slot>,
    ring: VecDeque<u64>,
    bytes: usize,
    bound: usize,
}

impl Cache {
    pub(super) fn new(bound: usize) -> Self {
        Self {
            slots: HashMap::new(),
            ring: VecDeque::new(),
            bytes: 0,
            bound,
        }
    }

    pub(super) fn get(&mut self, chunk: u64) -> Option<&Arc<Unpacked>> {
        let slot = self.slots.get_mut(&chunk)?;
        slot.used = true;
        Some(&slot.chunk)
    }

    pub(super) fn put(&mut self, number: u64, chunk: Arc<Unpacked>) {
        let size = chunk.size();
        if size > self.bound || self.slots.contains_key(&number) {
            return;
        }
        while self.bytes + size > self.bound && self.evict() {}
        self.bytes += size;
        self.slots.insert(number, Slot { chunk, used: false });
        self.ring.push_back(number);
    }

    /// Drops a chunk that has changed.
    pub(super) fn remove(&mut self, number: u64) {
        if let Some(slot) = self.slots.remove(&number) {
            self.bytes -= slot.chunk.size();
            self.ring.retain(|kept| *kept != number);
        }
    }

    /// Drops the oldest chunk or, if it was used, moves it to the end. Returns false if the cache is empty.
    fn evict(&mut self) -> bool {
        let Some(number) = self.ring.pop_front() else {
            return false;
        };
        if let Some(slot) = self.slots.get_mut(&number)
            && std::mem::take(&mut slot.used)
        {
            self.ring.push_back(number);
        } else if let Some(slot) = self.slots.remove(&number) {
            self.bytes -= slot.chunk.size();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, Cache, Unpacked};
    use bloscpack_wire::internal::Pack;
    use bloscpack_wire::{PackHead, Packing};

    fn chunk() -> Arc<Unpacked> {
        let (mut pack, mut content) = (Pack::default(), Vec::new());
        pack.push(&[7; 70], 70);
        pack.encode(0, &mut content);
        let head = PackHead::decode(&content, 87, Packing::new(100).unwrap()).unwrap();
        Unpacked::new(head, content).unwrap().into()
    }

    #[test]
    fn the_bound_holds_and_what_was_used_stays() {
        let size = chunk().size();
        let mut cache = Cache::new(3 * size);
        for number in 0..100 {
            cache.put(number, chunk());
            assert!(cache.get(0).is_some(), "{number}");
            assert!(cache.bytes <= 3 * size);
            assert_eq!(cache.bytes, cache.slots.len() * size);
            assert_eq!(cache.ring.len(), cache.slots.len());
        }
        assert!(cache.get(50).is_none());
    }

    #[test]
    fn chunks_of_next_to_nothing_count_with_all_that_they_take() {
        let least = size_of::<(u64, super::Slot)>() + size_of::<Unpacked>() + size_of::<u64>();
        let mut cache = Cache::new(1 << 20);
        for number in 0..1 << 14 {
            cache.put(number, chunk());
        }
        assert!(cache.slots.len() * (least + 87 + 8) <= 1 << 20);
        assert_eq!(cache.ring.len(), cache.slots.len());
    }

    #[test]
    fn what_is_larger_than_the_bound_is_not_kept() {
        let mut cache = Cache::new(chunk().size() - 1);
        cache.put(1, chunk());
        assert!(cache.get(1).is_none() && cache.bytes == 0);
    }
}
