//! [`StoreKeeper`]: keeps what the commits of a writer overwrite.

use super::site::StoreSite;
use super::staging::Staging;
use super::{Handle, Key, Store};
use crate::Access;
use crate::history::{Keeper, Site as _};
use std::io;
use std::sync::Arc;

/// Keeps what the commits of a writer overwrite, for readers.
pub(super) struct StoreKeeper {
    keeper: Keeper<Arc<dyn Handle>>,
    root: Arc<dyn Handle>,
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

    /// Announces the writer, and returns the stamp from before that.
    pub(super) fn announce(&mut self, store: &dyn Store, staging: &Staging) -> io::Result<u128> {
        self.with(store, staging, |keeper, site| {
            keeper.announce(site)?;
            Ok(site.status()?.stamp)
        })
    }

    /// Begins to keep a history if there are readers.
    pub(super) fn begin(
        &mut self,
        store: &dyn Store,
        staging: &Staging,
        stamp: u128,
    ) -> io::Result<()> {
        self.with(store, staging, |keeper, site| keeper.begin(site, stamp))
    }

    /// Announces that the commit of an earlier writer is completed.
    pub(super) fn announce_settled(
        &mut self,
        store: &dyn Store,
        staging: &Staging,
    ) -> io::Result<()> {
        self.with(store, staging, |keeper, site| keeper.announce_settled(site))
    }

    pub(super) fn with<T>(
        &mut self,
        store: &dyn Store,
        staging: &Staging,
        act: impl FnOnce(&mut Keeper<Arc<dyn Handle>>, &StoreSite<'_>) -> io::Result<T>,
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
