//! The search that a machine takes part in: one at a time.

use super::connection::Connection;
use super::request::SearchId;
use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A way from one worker to another one.
pub(super) enum Link {
    /// On this machine.
    Here(UnixStream),
    /// To another one.
    There(Connection),
}

/// What a machine is busy with.
#[derive(Default)]
pub(super) struct Registry(Mutex<Option<Search>>);

struct Search {
    id: SearchId,
    asked_by: String,
    /// By number: where links to the worker are brought, with the number of the other one.
    workers: BTreeMap<usize, Sender<(usize, Link)>>,
}

/// Why a worker is not kept ready.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum NoSeat {
    /// Another search is not over.
    Busy(String),
    /// There will never be room.
    Refused(String),
}

impl Registry {
    /// Keeps a worker ready for a search.
    ///
    /// # Errors
    /// If there is no room for it.
    pub(super) fn enter(
        self: &Arc<Self>,
        id: SearchId,
        me: usize,
        asked_by: &str,
        processes_max: usize,
    ) -> Result<Seat, NoSeat> {
        let mut present = self.lock();
        let search =
            present.get_or_insert_with(|| Search { id, asked_by: asked_by.to_owned(), workers: BTreeMap::new() });
        if search.id != id {
            return Err(NoSeat::Busy(format!("it is busy with a search for {}", search.asked_by)));
        }
        if processes_max <= search.workers.len() {
            return Err(NoSeat::Refused(format!("it allows at most {processes_max} processes")));
        }
        if search.workers.contains_key(&me) {
            return Err(NoSeat::Refused("it was asked for the same worker twice".to_owned()));
        }
        let (bring, links) = mpsc::channel();
        search.workers.insert(me, bring);
        Ok(Seat { registry: Arc::clone(self), me, links })
    }

    /// Brings a link to a worker; false if there is none of this search.
    pub(super) fn bring(&self, id: SearchId, from: usize, to: usize, link: Link) -> bool {
        let present = self.lock();
        let search = present.as_ref().filter(|search| search.id == id);
        let bring = search.and_then(|search| search.workers.get(&to));
        bring.is_some_and(|bring| bring.send((from, link)).is_ok())
    }

    /// Whether a worker of this search is on this machine.
    pub(super) fn has(&self, id: SearchId, worker: usize) -> bool {
        self.lock().as_ref().is_some_and(|search| search.id == id && search.workers.contains_key(&worker))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Search>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker that is kept ready, until this is dropped.
pub(super) struct Seat {
    registry: Arc<Registry>,
    me: usize,
    /// Links that others bring.
    pub(super) links: Receiver<(usize, Link)>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut present = self.registry.lock();
        if let Some(search) = present.as_mut() {
            search.workers.remove(&self.me);
            if search.workers.is_empty() {
                *present = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_search_at_a_time_with_so_many_workers() {
        let registry = Arc::new(Registry::default());
        let one = registry.enter([1; 16], 3, "one", 2).expect("a seat");
        assert!(matches!(registry.enter([2; 16], 0, "other", 2), Err(NoSeat::Busy(why)) if why.ends_with("for one")));
        assert!(matches!(registry.enter([1; 16], 3, "one", 2), Err(NoSeat::Refused(_))));
        let two = registry.enter([1; 16], 4, "one", 2).expect("a seat");
        assert!(matches!(registry.enter([1; 16], 5, "one", 2), Err(NoSeat::Refused(_))));
        let link = || Link::Here(UnixStream::pair().expect("a pair").0);
        assert!(registry.has([1; 16], 4) && !registry.has([1; 16], 5) && !registry.has([2; 16], 4));
        assert!(registry.bring([1; 16], 3, 4, link()));
        assert!(!registry.bring([1; 16], 3, 5, link()) && !registry.bring([2; 16], 3, 4, link()));
        assert!(matches!(two.links.try_recv(), Ok((3, Link::Here(_)))));
        drop(one);
        assert!(matches!(registry.enter([2; 16], 0, "other", 2), Err(NoSeat::Busy(_))));
        drop(two);
        assert!(registry.enter([2; 16], 0, "other", 2).is_ok());
    }
}
