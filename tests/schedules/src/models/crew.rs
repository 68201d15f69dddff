//! The crew with two or three threads; loom has no threads that borrow.

use super::error::{Error, ErrorKind, Result};
use crate::check::Models;
use crate::crew::{each, in_order};
use crate::pool::Pool;
use shuttle::sync::Mutex;
use std::panic::resume_unwind;

/// How a job ends.
#[derive(Clone, Copy)]
enum End {
    Fine,
    Fails,
    Panics,
}

use End::{Fails, Fine, Panics};

/// Does a job; where it notes that, others may come between.
fn act(number: usize, ends: &[End], seen: &Mutex<Vec<usize>>) -> Result<usize> {
    seen.lock().unwrap().push(number);
    match ends[number] {
        Fine => Ok(number),
        Fails => Err(Error(ErrorKind::Job(number))),
        Panics => resume_unwind(Box::new("planted")),
    }
}

/// What comes of the jobs one after the other: how many are fine, and then which error.
fn expected(ends: &[End]) -> (usize, Option<ErrorKind>) {
    let fine = ends.iter().take_while(|end| matches!(end, Fine)).count();
    let error = ends.get(fine).map(|end| match end {
        Fails => ErrorKind::Job(fine),
        _ => ErrorKind::Panicked,
    });
    (fine, error)
}

fn kind(result: Result<()>) -> Option<ErrorKind> {
    result.err().map(|error| error.0)
}

/// Each job is done once, up to an error at least, and the first of the errors is told.
fn check_each(threads: usize, ends: &[End]) {
    let seen = Mutex::default();
    let result = each(threads, 0..ends.len(), |n| act(n, ends, &seen).map(drop));
    let (fine, error) = expected(ends);
    let mut seen = seen.into_inner().unwrap();
    seen.sort_unstable();
    let begun = seen.len();
    assert!(seen.into_iter().eq(0..begun));
    assert!(begun >= fine + usize::from(error.is_some()));
    assert_eq!(kind(result), error);
}

/// What jobs come to is taken in order, up to the first error, be it that one of them is refused.
fn check_in_order(threads: usize, ends: &[End], refused: Option<usize>) {
    let (seen, mut taken) = (Mutex::default(), Vec::new());
    let take = |n| {
        if Some(n) == refused {
            return Err(Error(ErrorKind::Refused));
        }
        taken.push(n);
        Ok(())
    };
    let result = in_order(threads, 0..ends.len(), |n| act(n, ends, &seen), take);
    let (fine, error) = match (expected(ends), refused) {
        ((fine, _), Some(refused)) if refused < fine => (refused, Some(ErrorKind::Refused)),
        (expected, _) => expected,
    };
    assert!(taken.into_iter().eq(0..fine));
    assert_eq!(kind(result), error);
}

/// What is lent is nobody else's meanwhile, and no more are made than there are threads.
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
    each(threads, 0..4, lend).unwrap();
    assert!((1..=threads).contains(&made.into_inner().unwrap()));
}

pub fn models(models: &Models) {
    models.check_all("each: fine, two threads", || check_each(2, &[Fine; 2]));
    models.check_all("each: errors, two threads", || check_each(2, &[Fails; 2]));
    for (name, ends) in [
        ("each: fine", [Fine; 4]),
        ("each: errors", [Fine, Fails, Fine, Fails]),
        ("each: an error and a panic", [Fine, Fails, Panics, Fine]),
        ("each: a panic and an error", [Panics, Fine, Fine, Fails]),
    ] {
        models.check(name, move || check_each(3, &ends));
    }
    models.check_all("in order: fine, two threads", || {
        check_in_order(2, &[Fine; 2], None)
    });
    models.check_all("in order: an error, two threads", || {
        check_in_order(2, &[Fine, Fails], None);
    });
    for (name, ends, refused) in [
        ("in order: fine", [Fine; 4], None),
        ("in order: an error", [Fine, Fails, Fine, Fine], None),
        ("in order: a panic", [Fine, Panics, Fails, Fine], None),
        ("in order: refused", [Fine, Fine, Fine, Fails], Some(1)),
    ] {
        models.check(name, move || check_in_order(3, &ends, refused));
    }
    models.check("pool", || check_pool(3));
}
