//! A model of the pipeline with two threads and three jobs, under every schedule (loom), or very many (shuttle).

use crate::check::Models;
use crate::parallel::sync::{Condvar, Mutex};
use crate::parallel::{Crew, Panicked, Pipeline};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Wake};

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
    check("the caller helps", (Ok, helped));
    check(
        "the caller helps past a panic",
        (second_panics, helped_past_a_panic),
    );
    check("polled by a task", (Ok, polled_in_order));
    check("dropped on a crew", (Ok, dropped_on_a_crew));
    check("a panic on a crew", (second_panics, past_a_panic_of_a_crew));
}

/// A task that sleeps until it is woken.
struct Sleeper {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        *self.is_woken.lock().unwrap() = true;
        self.woken.notify_one();
    }
}

/// The next result, polled by a task; a wake-up that is lost is a deadlock.
fn polled(pipeline: &mut Pipeline<Job, Outcome>) -> Option<Result<Outcome, Panicked>> {
    let sleeper = Arc::new(Sleeper {
        is_woken: Mutex::new(false),
        woken: Condvar::new(),
    });
    let waker = Arc::clone(&sleeper).into();
    loop {
        if let Poll::Ready(result) = pipeline.poll_next(&Context::from_waker(&waker)) {
            return result;
        }
        let mut is_woken = sleeper.is_woken.lock().unwrap();
        while !*is_woken {
            is_woken = sleeper.woken.wait(is_woken).unwrap();
        }
        *is_woken = false;
    }
}

/// Results that a task polls, of a crew of two threads.
fn polled_in_order(alive: &Alive, pipeline: Pipeline<Job, Outcome>) {
    let crew = Arc::new(Crew::new(2));
    let mut pipeline = pipeline.on(Arc::clone(&crew));
    (0..2).for_each(|n| pipeline.submit(alive.job(n)));
    assert_eq!(polled(&mut pipeline).unwrap().unwrap(), Ok(0));
    pipeline.submit(alive.job(2));
    assert_eq!(polled(&mut pipeline).unwrap().unwrap(), Ok(1));
    assert_eq!(polled(&mut pipeline).unwrap().unwrap(), Ok(2));
    assert!(polled(&mut pipeline).is_none());
}

/// A pipeline that is dropped leaves its jobs to the crew, which drops those that have not begun.
fn dropped_on_a_crew(alive: &Alive, pipeline: Pipeline<Job, Outcome>) {
    let crew = Arc::new(Crew::new(1));
    let mut pipeline = pipeline.on(Arc::clone(&crew));
    (0..2).for_each(|n| pipeline.submit(alive.job(n)));
    drop(pipeline);
    // Joins its threads.
    drop(crew);
}

fn past_a_panic_of_a_crew(alive: &Alive, pipeline: Pipeline<Job, Outcome>) {
    let mut pipeline = pipeline.on(Arc::new(Crew::new(1)));
    (0..3).for_each(|n| pipeline.submit(alive.job(n)));
    let results: Vec<_> = std::iter::from_fn(|| polled(&mut pipeline))
        .map(|result| result.ok())
        .collect();
    assert_eq!(results, [Some(Ok(0)), None, Some(Ok(2))]);
}

fn in_order(alive: &Alive, mut pipeline: Pipeline<Job, Outcome>) {
    (0..3).for_each(|n| pipeline.submit(alive.job(n)));
    assert_eq!(all(&mut pipeline), [0, 1, 2].map(|n| Some(Ok(n))));
    assert_eq!(pipeline.under_way(), 0);
}

fn helped(alive: &Alive, pipeline: Pipeline<Job, Outcome>) {
    in_order(alive, pipeline.with_caller());
}

fn helped_past_a_panic(alive: &Alive, pipeline: Pipeline<Job, Outcome>) {
    past_a_panic(alive, pipeline.with_caller());
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
