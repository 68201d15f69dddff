//! [`StoreKeeper`]: saves what a writer's commits overwrite.

use super::site::StoreSite;
use super::staging::Staging;
use super::{Key, Store, StoreHandle};
use crate::Access;
use crate::history::Keeper;
use std::io;
use std::sync::Arc;

/// Saves what a writer's commits overwrite, for readers.
pub(super) struct StoreKeeper {
    keeper: Keeper<Arc<dyn StoreHandle>>,
    root: Arc<dyn StoreHandle>,
}

impl StoreKeeper {
    /// `None` if the store has no handles.
    pub(super) fn new(store: &dyn Store) -> io::Result<Option<Self>> {
        let root = store.handle(&Key::root(), Access::Read)?;
        Ok(root.map(|root| Self {
            keeper: Keeper::default(),
            root,
        }))
    }

    /// Runs `act` with the keeper and the site of the store.
    pub(super) fn with<T>(
        &mut self,
        store: &dyn Store,
        staging: &Staging,
        act: impl FnOnce(&mut Keeper<Arc<dyn StoreHandle>>, &StoreSite<'_>) -> io::Result<T>,
    ) -> io::Result<T> {
        let root = &self.root;
        let site = StoreSite {
            store,
            staging,
            root,
        };
        act(&mut self.keeper, &site)
    }
}
