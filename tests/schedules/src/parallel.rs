//! A model of the functions of `parallel` with two or three threads; loom does not have scoped threads.

use crate::check::Models;
use crate::parallel::{Panicked, Pool, for_each, map_in_order};
use shuttle::sync::Mutex;
use std::panic::resume_unwind;

/// Why a job, or everything, has failed.
#[derive(Debug, PartialEq)]
enum Error {
    Panicked,
    /// The job of this number failed.
    Job(usize),
    /// The result of a job was refused.
    Refused,
}

type Result<T> = std::result::Result<T, Error>;

impl From<Panicked> for Error {
    fn from(_: Panicked) -> Self {
        Self::Panicked
    }
}

/// How a job ends.
#[derive(Clone, Copy)]
enum End {
    Fine,
    Fails,
    Panics,
}

use End::{Fails, Fine, Panics};

/// Runs a job; other threads may run while it notes that.
fn act(number: usize, ends: &[End], seen: &Mutex<Vec<usize>>) -> Result<usize> {
    seen.lock().unwrap().push(number);
    match ends[number] {
        Fine => Ok(number),
        Fails => Err(Error::Job(number)),
        Panics => resume_unwind(Box::new("planted")),
    }
}

/// The result of the jobs, one after another: how many are fine, and then which error.
fn expected(ends: &[End]) -> (usize, Option<Error>) {
    let fine = ends.iter().take_while(|end| matches!(end, Fine)).count();
    let error = ends.get(fine).map(|end| match end {
        Fails => Error::Job(fine),
        _ => Error::Panicked,
    });
    (fine, error)
}

/// Each job runs once, at least up to an error, and the first of the errors is returned.
fn check_for_each(threads: usize, ends: &[End]) {
    let seen = Mutex::default();
    let result = for_each(threads, 0..ends.len(), |n| act(n, ends, &seen).map(drop));
    let (fine, error) = expected(ends);
    let mut seen = seen.into_inner().unwrap();
    seen.sort_unstable();
    let begun = seen.len();
    assert!(seen.into_iter().eq(0..begun));
    assert!(begun >= fine + usize::from(error.is_some()));
    assert_eq!(result.err(), error);
}

/// The results are taken in order, up to the first error, which may be that one is refused.
fn check_map_in_order(threads: usize, ends: &[End], refused: Option<usize>) {
    let (seen, mut taken) = (Mutex::default(), Vec::new());
    let take = |n| {
        if Some(n) == refused {
            return Err(Error::Refused);
        }
        taken.push(n);
        Ok(())
    };
    let result = map_in_order(threads, 0..ends.len(), |n| act(n, ends, &seen), take);
    let (fine, error) = match (expected(ends), refused) {
        ((fine, _), Some(refused)) if refused < fine => (refused, Some(Error::Refused)),
        (expected, _) => expected,
    };
    assert!(taken.into_iter().eq(0..fine));
    assert_eq!(result.err(), error);
}

/// An object is lent to one thread at a time, and no more are made than there are threads.
fn check_pool(threads: usize) {
    let (pool, made) = (Pool::<Vec<usize>>::default(), Mutex::new(0));
    let lend = |n| {
        let make = || {
            *made.lock().unwrap() += 1;
            Ok(Vec::new())
        };
        pool.lend(make, |one| {
            one.push(n);
            shuttle::thread::yield_now();
            assert_eq!(one.pop(), Some(n));
            Ok::<_, Error>(())
        })
    };
    for_each(threads, 0..4, lend).unwrap();
    assert!((1..=threads).contains(&made.into_inner().unwrap()));
}

pub fn models(models: &Models) {
    models.check_all("for_each: fine, two threads", || {
        check_for_each(2, &[Fine; 2])
    });
    models.check_all("for_each: errors, two threads", || {
        check_for_each(2, &[Fails; 2])
    });
    for (name, ends) in [
        ("for_each: fine", [Fine; 4]),
        ("for_each: errors", [Fine, Fails, Fine, Fails]),
        (
            "for_each: an error and a panic",
            [Fine, Fails, Panics, Fine],
        ),
        (
            "for_each: a panic and an error",
            [Panics, Fine, Fine, Fails],
        ),
    ] {
        models.check(name, move || check_for_each(3, &ends));
    }
    models.check_all("map_in_order: fine, two threads", || {
        check_map_in_order(2, &[Fine; 2], None)
    });
    models.check_all("map_in_order: an error, two threads", || {
        check_map_in_order(2, &[Fine, Fails], None);
    });
    for (name, ends, refused) in [
        ("map_in_order: fine", [Fine; 4], None),
        ("map_in_order: an error", [Fine, Fails, Fine, Fine], None),
        ("map_in_order: a panic", [Fine, Panics, Fails, Fine], None),
        ("map_in_order: refused", [Fine, Fine, Fine, Fails], Some(1)),
    ] {
        models.check(name, move || check_map_in_order(3, &ends, refused));
    }
    // More jobs than may be ahead of the next result.
    for (name, refused) in [("no more room", None), ("no more room, refused", Some(2))] {
        models.check(&format!("map_in_order: {name}"), move || {
            check_map_in_order(2, &[Fine; 20], refused);
        });
    }
    models.check("pool", || check_pool(3));
}
