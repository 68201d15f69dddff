//! A model of the pipeline with two threads and three jobs, under every schedule (loom), or very many (shuttle).

use crate::check::Models;
use crate::parallel::{Panicked, Pipeline};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// The result of a job: its number, or why it failed.
type Outcome = Result<usize, &'static str>;

/// Counts of live workers, and of jobs without a consumed result.
#[derive(Clone, Default)]
struct Alive {
    workers: Arc<AtomicUsize>,
    jobs: Arc<AtomicUsize>,
}

/// Counts down when it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// A job, which a worker may refuse or stumble over.
struct Job(
    usize,
    #[allow(dead_code, reason = "it is there to be dropped")] Counted,
);

impl Alive {
    /// A pipeline of two threads that run `act`.
    fn pipeline(&self, act: fn(usize) -> Outcome) -> Pipeline<Job, Outcome> {
        let workers = Arc::clone(&self.workers);
        Pipeline::new(2, move || {
            let alive = Counted::new(&workers);
            move |job: Job| {
                let _ = &alive;
                act(job.0)
            }
        })
    }

    fn job(&self, number: usize) -> Job {
        Job(number, Counted::new(&self.jobs))
    }

    /// A pipeline that was dropped has no worker left, and no job, each of which was dropped once.
    fn assert_none(&self) {
        assert_eq!(self.workers.load(SeqCst), 0, "a thread was not waited for");
        assert_eq!(self.jobs.load(SeqCst), 0, "a job was forgotten");
    }
}

fn all(pipeline: &mut Pipeline<Job, Outcome>) -> Vec<Option<Outcome>> {
    std::iter::from_fn(|| pipeline.next())
        .map(|result| result.ok())
        .collect()
}

pub fn models(models: &Models) {
    /// The action of each job, and the use of the pipeline.
    type Model = (fn(usize) -> Outcome, fn(&Alive, Pipeline<Job, Outcome>));
    let check = |name: &str, (act, model): Model| {
        models.check(&format!("pipeline: {name}"), move || {
            let alive = Alive::default();
            model(&alive, alive.pipeline(act));
            alive.assert_none();
        });
    };
    check("results come in order", (Ok, in_order));
    check(
        "results are taken as they are ready",
        (Ok, as_they_are_ready),
    );
    let second_fails = |n| if n == 1 { Err("planted") } else { Ok(n) };
    check("an error in the middle", (second_fails, up_to_an_error));
    let second_panics = |n| match n {
        // Not `panic!`, for which the tools print the schedule.
        1 => resume_unwind(Box::new("planted")),
        n => Ok(n),
    };
    check(
        "a panic is the error of its job",
        (second_panics, past_a_panic),
    );
    let all_panic = |_| resume_unwind(Box::new("planted"));
    check("all jobs panic", (all_panic, only_panics));
    check("dropped with jobs under way", (Ok, dropped));
    check("dropped with results not taken", (Ok, not_taken));
    check("a job done here", (Ok, done_here));
}

fn in_order(alive: &Alive, mut pipeline: Pipeline<Job, Outcome>) {
    (0..3).for_each(|n| pipeline.submit(alive.job(n)));
    assert_eq!(all(&mut pipeline), [0, 1, 2].map(|n| Some(Ok(n))));
    assert_eq!(pipeline.under_way(), 0);
}

fn as_they_are_ready(alive: &Alive, mut pipeline: Pipeline<Job, Outcome>) {
    let mut taken = Vec::new();
    for n in 0..3 {
        pipeline.submit(alive.job(n));
        while let Some(result) = pipeline.next_ready() {
            taken.push(result.unwrap());
        }
    }
    while let Some(result) = pipeline.next() {
        taken.push(result.unwrap());
    }
    assert_eq!(taken, [Ok(0), Ok(1), Ok(2)]);
}

fn up_to_an_error(alive: &Alive, mut pipeline: Pipeline<Job, Outcome>) {
    (0..3).for_each(|n| pipeline.submit(alive.job(n)));
    assert_eq!(pipeline.next().unwrap().unwrap(), Ok(0));
    // The caller stops at an error: the last job is running or has not begun.
    assert_eq!(pipeline.next().unwrap().unwrap(), Err("planted"));
}

fn past_a_panic(alive: &Alive, mut pipeline: Pipeline<Job, Outcome>) {
    (0..3).for_each(|n| pipeline.submit(alive.job(n)));
    assert_eq!(all(&mut pipeline), [Some(Ok(0)), None, Some(Ok(2))]);
}

fn only_panics(alive: &Alive, mut pipeline: Pipeline<Job, Outcome>) {
    (0..2).for_each(|n| pipeline.submit(alive.job(n)));
    assert!(matches!(pipeline.next(), Some(Err(Panicked))));
    pipeline.submit(alive.job(2));
    assert_eq!(all(&mut pipeline), [None, None]);
}

fn dropped(alive: &Alive, mut pipeline: Pipeline<Job, Outcome>) {
    (0..3).for_each(|n| pipeline.submit(alive.job(n)));
}

fn not_taken(alive: &Alive, mut pipeline: Pipeline<Job, Outcome>) {
    (0..3).for_each(|n| pipeline.submit(alive.job(n)));
    // Earlier results are not lost.
    assert_eq!(pipeline.next().unwrap().unwrap(), Ok(0));
}

fn done_here(alive: &Alive, mut pipeline: Pipeline<Job, Outcome>) {
    pipeline.submit(alive.job(0));
    pipeline.submit_here(alive.job(1));
    pipeline.submit(alive.job(2));
    assert_eq!(all(&mut pipeline), [0, 1, 2].map(|n| Some(Ok(n))));
}
