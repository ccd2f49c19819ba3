//! Parallel search for violations of safety: faulty transitions and invalid end states.
//!
//! ```text
//! work(i):  while there is work:             visit(s, i):  report s if it is an invalid end
//!             s := some state given away       for each t := α(s), α ∈ postᵢ(s):
//!             visit(s, i)                        report the step if it is faulty
//!                                                if t ∉ V:  V := V ∪ {t}
//!                                                  if threads may soon want work: give t away
//!                                                  else visit(t, i)
//! ```
//!
//! Each thread searches depth-first, with a stack of its own; the visited set V is shared, so each state is
//! expanded once. After Laarman, van de Pol, Weber: *Boosting Multi-Core Reachability Performance with Shared
//! Hash Tables* (FMCAD 2010); there, idle threads steal, here a busy one gives new states away as long as there are
//! few in stock, which costs nothing while everybody is busy.

use super::explorer::{Event, Exploration, Explorer, Start};
use super::pool::NextWork;
use super::trace::Trace;
use super::worker_pool::{Run, Show, WorkerPool};
use crate::model::Model;
use crate::observer::{Observer, Settings, tell_together};
use crate::outcome::{Halt, Outcome, Statistics, StopAt, Violation, ViolationKind};
use fabius_base::Limits;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// This many violations may wait for the thread that lists them.
const REPORTS_MAX: usize = 1 << 12;

/// Given away in advance, so that no thread has to wait: this many states for each thread but one.
const STOCK_PER_THREAD: usize = 4;

/// A violation that some thread met.
struct Report<M: Model> {
    kind: ViolationKind<M::Fault>,
    label: Option<M::Label>,
    state: Vec<u32>,
    trace: Trace,
}

type Reports<M> = Mutex<Vec<Report<M>>>;

/// The violations listed so far: one of each key.
struct Listed<M: Model> {
    violations: Vec<(Report<M>, u64)>,
    by_key: HashMap<u64, usize>,
}

/// Searches all states that the models can reach, with one thread for each of them; they must be the same.
/// The first of them is the caller's thread.
pub fn reach<M, O>(models: &mut [M], observer: &mut O, settings: &Settings, seed: u64) -> Outcome<M::Label, M::Fault>
where
    M: Model<Label: Send, Fault: Send> + Send,
    O: Observer<M::Label, M::Fault>,
{
    search(models, observer, settings, seed, Exploration::FREE)
}

pub(super) fn search<M, O>(
    models: &mut [M],
    observer: &mut O,
    settings: &Settings,
    seed: u64,
    how: Exploration,
) -> Outcome<M::Label, M::Fault>
where
    M: Model<Label: Send, Fault: Send> + Send,
    O: Observer<M::Label, M::Fault>,
{
    let stock = STOCK_PER_THREAD * models.len().saturating_sub(1);
    let workers = WorkerPool::<Start, Halt>::new(models.len(), stock, seed, settings);
    let reports = Reports::<M>::default();
    let mut listed = Listed { violations: Vec::new(), by_key: HashMap::new() };
    let mut watch = |statistics: &Statistics, limits: &mut Limits, show: Show<'_, M::Label>| {
        listed.add(&reports, observer);
        tell_together(observer, statistics, limits, show)
    };
    let why = workers.work(models, &mut watch, |thread, model, watch| {
        let explorer = Explorer::new(thread, &workers, model, how, watch);
        let mut search = Reach { explorer, reports: &reports };
        let run = search.work();
        search.explorer.publish();
        run
    });
    listed.add(&reports, observer);
    if settings.stop_at == StopAt::First {
        listed.violations.truncate(1);
    }
    let paths: Vec<Vec<M::Label>> = models.first_mut().map_or(Vec::new(), |model| {
        let path = |(report, _): &(Report<M>, u64)| {
            let mut path = workers.traces.execute(report.trace, model);
            path.extend(report.label);
            path
        };
        listed.violations.iter().map(path).collect()
    });
    let violations = listed.violations.iter().zip(paths);
    let violation = |((report, count), path): (&(Report<M>, u64), Vec<M::Label>)| Violation {
        kind: report.kind,
        path,
        delays: Vec::new(),
        count: *count,
    };
    workers.conclude(why, violations.map(violation).collect())
}

impl<M: Model> Listed<M> {
    /// Lists what was reported: one of each key, and how many there are.
    fn add(&mut self, reports: &Reports<M>, observer: &mut impl Observer<M::Label, M::Fault>) {
        let new = std::mem::take(&mut *reports.lock().unwrap_or_else(PoisonError::into_inner));
        for report in new {
            let key = observer.key(&report.kind, report.label.as_ref(), &report.state);
            let index = *self.by_key.entry(key).or_insert(self.violations.len());
            if index == self.violations.len() {
                self.violations.push((report, 0));
            }
            self.violations[index].1 += 1;
        }
    }
}

/// One of the threads.
struct Reach<'a, M: Model> {
    explorer: Explorer<'a, M, Start, Halt>,
    reports: &'a Reports<M>,
}

impl<M: Model> Reach<'_, M> {
    fn work(&mut self) -> Run<Halt> {
        match self.explorer.reset_to_initial() {
            Err(fault) if self.explorer.thread == 0 => return self.report(ViolationKind::Fault(fault), None),
            Ok(start) if self.explorer.thread == 0 => {
                self.explorer.access.entry(start.key, 0);
                self.explorer.count(false)?;
                self.explorer.begin(&start, 0);
            }
            _ => {}
        }
        loop {
            self.visit()?;
            match self.explorer.wait(0) {
                NextWork::Work(start) => {
                    self.explorer.reset_to(&start);
                    self.explorer.begin(&start, 0);
                }
                NextWork::Level | NextWork::Nothing => return ControlFlow::Continue(()),
            }
        }
    }

    fn visit(&mut self) -> Run<Halt> {
        loop {
            match self.explorer.next()? {
                Event::Arrival(t) => {
                    if self.explorer.access.entry(t.key, 0).1.is_some() {
                        self.explorer.count_match();
                        self.explorer.prune();
                        continue;
                    }
                    self.explorer.count(t.transient)?;
                    if self.explorer.workers.pool.lacks_stock() {
                        let start = self.explorer.start(t.key);
                        self.explorer.prune();
                        self.explorer.workers.pool.offer(start);
                    } else {
                        self.explorer.enter(t.key, 0);
                    }
                }
                Event::Done => self.explorer.leave(),
                Event::Over => return ControlFlow::Continue(()),
                Event::Faulty { label, fault } => self.report(ViolationKind::Fault(fault), label)?,
                Event::InvalidEnd => self.report(ViolationKind::InvalidEnd, None)?,
            }
        }
    }

    /// Reports a violation: of the transition `label` from here, or of this state.
    #[cold]
    fn report(&mut self, kind: ViolationKind<M::Fault>, label: Option<M::Label>) -> Run<Halt> {
        self.explorer.share.statistics.violations += 1;
        let (state, trace) = (self.explorer.state().to_vec(), self.explorer.trace());
        let mut waiting = {
            let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
            reports.push(Report { kind, label, state, trace });
            reports.len()
        };
        if self.explorer.workers.settings.stop_at == StopAt::First {
            return ControlFlow::Break(Some(Halt::Found(())));
        }
        while REPORTS_MAX < waiting {
            self.explorer.look()?;
            std::thread::yield_now();
            waiting = self.reports.lock().unwrap_or_else(PoisonError::into_inner).len();
        }
        ControlFlow::Continue(())
    }
}
