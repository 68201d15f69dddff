//! Channels like those of the standard library, made of loom's locks: loom's own do not report that the other end is
//! gone.

use loom::sync::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
pub use std::sync::mpsc::{RecvError, SendError, TryRecvError};

struct Channel<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    queue: VecDeque<T>,
    has_sender: bool,
    has_receiver: bool,
}

impl<T> Channel<T> {
    fn locked(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap()
    }
}

pub struct Sender<T>(Arc<Channel<T>>);

/// The pipeline sends one value through each channel with room for one, so that it never waits for room.
pub type SyncSender<T> = Sender<T>;

pub struct Receiver<T>(Arc<Channel<T>>);

pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel {
        state: Mutex::new(State {
            queue: VecDeque::new(),
            has_sender: true,
            has_receiver: true,
        }),
        changed: Condvar::new(),
    });
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

pub fn sync_channel<T>(room: usize) -> (SyncSender<T>, Receiver<T>) {
    assert_eq!(room, 1);
    channel()
}

impl<T> Sender<T> {
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let mut state = self.0.locked();
        if !state.has_receiver {
            return Err(SendError(value));
        }
        state.queue.push_back(value);
        drop(state);
        self.0.changed.notify_one();
        Ok(())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.locked().has_sender = false;
        self.0.changed.notify_one();
    }
}

impl<T> Receiver<T> {
    pub fn recv(&self) -> Result<T, RecvError> {
        let mut state = self.0.locked();
        loop {
            match state.queue.pop_front() {
                Some(value) => return Ok(value),
                None if !state.has_sender => return Err(RecvError),
                None => state = self.0.changed.wait(state).unwrap(),
            }
        }
    }

    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut state = self.0.locked();
        match state.queue.pop_front() {
            Some(value) => Ok(value),
            None if state.has_sender => Err(TryRecvError::Empty),
            None => Err(TryRecvError::Disconnected),
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.0.locked();
        state.has_receiver = false;
        let unread = std::mem::take(&mut state.queue);
        drop(state);
        drop(unread);
    }
}
