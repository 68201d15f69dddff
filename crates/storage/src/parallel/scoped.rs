//! [`map_in_order`] and [`for_each`]: jobs that may borrow.

use super::Panicked;
use super::panicked::catch;
use super::queue::{Queue, Wait};
use super::sync::{ScopedJoinHandle, start, thread};

/// Jobs under way for each thread. A slow job should not make the others wait.
const AHEAD: u64 = 8;

/// Runs all jobs on up to `threads` threads, and passes their results to `take`: on the calling thread, and in
/// the order of the jobs.
///
/// Jobs begin in order. While the next result is missing, the calling thread runs jobs, too. Up to eight
/// results for each thread may be ahead of their turn. After a job has failed, no new one begins, and those
/// under way are finished first.
///
/// # Errors
/// Returns the first error in the order of the jobs, whether of a job or of `take`. The panic of a job is the
/// error [`Panicked`].
pub fn map_in_order<J: Send, T: Send, E: From<Panicked> + Send>(
    threads: usize,
    jobs: impl ExactSizeIterator<Item = J> + Send,
    act: impl Fn(J) -> Result<T, E> + Sync,
    take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(jobs.len());
    // Saturates: there may be as many threads as jobs.
    let limit = (threads as u64).saturating_mul(AHEAD);
    run((threads, limit), jobs, act, take)
}

/// Runs all jobs on up to `threads` threads, including the calling one: [`map_in_order`] without results and
/// without a bound on how far jobs may be ahead.
///
/// # Errors
/// Returns the error of the first failed job in the order of the jobs, even if a later job failed earlier in
/// time. The panic of a job is the error [`Panicked`].
pub fn for_each<J: Send, E: From<Panicked> + Send>(
    threads: usize,
    jobs: impl ExactSizeIterator<Item = J> + Send,
    act: impl Fn(J) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let threads = threads.min(jobs.len());
    run((threads, u64::MAX), jobs, act, Ok)
}

fn run<J: Send, T: Send, E: From<Panicked> + Send>(
    (threads, limit): (usize, u64),
    jobs: impl ExactSizeIterator<Item = J> + Send,
    act: impl Fn(J) -> Result<T, E> + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let act = |job| catch(|| act(job));
    if threads < 2 {
        return jobs.into_iter().try_for_each(|job| take(act(job)?));
    }
    let queue = Queue::new((0..).zip(jobs), limit);
    // All jobs before the first failing one have begun before it, so their results will arrive.
    let act = |job| act(job).inspect_err(|_| queue.stop());
    let next_result = |number| {
        loop {
            if let Some(result) = queue.take(number, false) {
                return Some(result);
            }
            if !queue.run_next(Wait::Never, act) {
                let has_begun = queue.has_begun(number);
                return has_begun.then(|| queue.take(number, true)).flatten();
            }
        }
    };
    let mut pass_on = || {
        let mut numbers = 0..;
        while let Some(result) = numbers.next().and_then(next_result) {
            take(result?)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let work = || while queue.run_next(Wait::ForRoom, act) {};
        let workers: Vec<_> = (1..threads).map_while(|_| start(scope, work)).collect();
        // Workers that wait must be stopped even if this panics.
        let done = catch(&mut pass_on);
        queue.stop();
        // Every worker is joined, even if another one has panicked.
        let ends: Vec<_> = workers.into_iter().map(ScopedJoinHandle::join).collect();
        let all_ended = ends.iter().all(Result::is_ok);
        done.and(if all_ended {
            Ok(())
        } else {
            Err(Panicked.into())
        })
    })
}
