//! What to try when a check left a property undecided: flags that exist, go with what was asked, and help against what
//! stopped this search.

use crate::args::{Check, CycleSearch, FairnessKind, SearchOrder, StoreKind};
use crate::delays::Mode;
use fabius_engine::report::{PropertyClass, PropertyReport, Stopped, UNREDUCED_TO_BE_SAVED};
use fabius_engine::{Report, Verdict};

/// Above this many bytes for each state, remembering 64 bits of it needs clearly less.
const BYTES_PER_STATE_MANY: f64 = 24.0;
/// A limit is raised to this many times what it was.
const MORE: u64 = 10;

/// A flag, and what it does.
type Advice = (String, &'static str);

/// What to try, in the order in which it is worth trying; nothing if everything was decided.
pub fn advice(report: &Report, args: &Check) -> Vec<Advice> {
    let mut advice: Vec<Advice> = Vec::new();
    for property in report.properties.iter().filter(|property| property.verdict == Verdict::Undecided) {
        for more in Situation::of(property, report, args).advice(report.properties.len()) {
            if !advice.iter().any(|(flag, _)| *flag == more.0) {
                advice.push(more);
            }
        }
    }
    advice
}

/// What was asked, as far as it says which flags go with it.
struct Situation<'a> {
    property: &'a PropertyReport,
    args: &'a Check,
    safety: bool,
    /// Neither in the order of delays nor of depth.
    plain: bool,
    fair: bool,
}

impl<'a> Situation<'a> {
    fn of(property: &'a PropertyReport, report: &Report, args: &'a Check) -> Self {
        let asked = &args.question;
        let by_delays = matches!(asked.cycles, Some(CycleSearch::Map | CycleSearch::IterativeNdfs));
        let safety = property.kind == PropertyClass::Safety;
        // A flag has the last word, and the project's setting is not told then.
        let fairness = report.project.iter().flat_map(|project| &project.settings);
        let by_project = fairness.into_iter().any(|setting| {
            setting.strip_prefix("check.fairness = ").is_some_and(|word| word.trim_matches('"') != "none")
        });
        let plain = asked.delays.delay.is_none() && asked.delays.depth().is_none() && (safety || !by_delays);
        Self {
            property,
            args,
            safety,
            plain,
            fair: !safety && (asked.fairness.is_some_and(|fairness| fairness != FairnessKind::None) || by_project),
        }
    }

    fn advice(&self, properties: usize) -> Vec<Advice> {
        match self.property.stopped {
            Some(Stopped::Timeout) => {
                let alone = (properties > 1).then(|| {
                    (format!("--property {}", super::text::quoted(&self.property.name)), "all of the time for this one")
                });
                let time = self.args.timeout.map(|timeout| {
                    let seconds = (timeout.as_secs_f64() * MORE as f64).max(1.0);
                    (format!("--timeout {seconds:.0}"), "more time, in seconds")
                });
                time.into_iter().chain(alone).chain(self.faster()).chain(self.errors_first()).collect()
            }
            Some(Stopped::Cancelled) => self.faster().chain(self.errors_first()).collect(),
            Some(Stopped::Memory) => {
                let memory = self.args.question.max_memory.map(|bytes| {
                    let mebibytes = bytes.saturating_mul(2).div_ceil(1 << 20);
                    (format!("--max-memory {mebibytes}M"), "twice the memory")
                });
                memory.into_iter().chain(self.smaller()).chain(self.errors_first()).collect()
            }
            Some(Stopped::Full) => self.smaller().into_iter().chain(self.errors_first()).collect(),
            Some(Stopped::States) => {
                let states = self.args.question.max_states;
                let more = states.map(|max| (format!("--max-states {}", max.saturating_mul(MORE)), "more states"));
                more.into_iter().chain(self.errors_first()).collect()
            }
            Some(Stopped::WorkerLost) => self.errors_first().collect(),
            Some(Stopped::Depth) => self.deeper(),
            Some(Stopped::Delays) => self.more_delays(),
            Some(Stopped::RuntimeErrors) => {
                vec![("--property safety".to_owned(), "shows the run to the runtime error; fix that first")]
            }
            // It was asked for.
            Some(Stopped::Pruned) => Vec::new(),
            Some(Stopped::Violation) => Vec::new(),
            None => self.surer(),
        }
    }

    /// Whether the search is one that a checkpoint holds.
    fn is_saved(&self) -> bool {
        self.property.strategy.as_ref().is_some_and(|strategy| strategy.checkpoint)
    }

    fn has_exact_store(&self) -> bool {
        self.args.store.is_none_or(|store| store == StoreKind::Tree)
    }

    /// More threads, where this search can use them and the machine has them.
    fn faster(&self) -> impl Iterator<Item = Advice> {
        let (args, asked) = (self.args, &self.args.question);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let by_threads = match self.safety {
            // All cores were used already, unless one thread was asked for.
            true => args.search != Some(SearchOrder::Bfs) && self.has_exact_store() && self.is_alone(),
            false => !self.fair && asked.cycles != Some(CycleSearch::Scc),
        };
        let helps = self.plain
            && !self.is_saved()
            && by_threads
            && asked.threads.is_none_or(|threads| threads == 1)
            && !args.others.search()
            && cores > 1;
        helps.then(|| (format!("--threads {cores}"), "faster, and more memory")).into_iter()
    }

    /// Whether one thread searched.
    fn is_alone(&self) -> bool {
        self.property.strategy.as_ref().is_none_or(|strategy| strategy.threads == 1)
    }

    /// Orders in which an error that there is may come sooner.
    fn errors_first(&self) -> impl Iterator<Item = Advice> {
        let alone = self.args.question.threads.is_none_or(|threads| threads == 1) && !self.args.others.search();
        let breadth =
            self.safety && self.plain && alone && !self.is_saved() && self.args.search != Some(SearchOrder::Bfs);
        let breadth = breadth.then(|| ("--search bfs".to_owned(), "short runs first"));
        let delays = self.plain && !self.fair && self.has_exact_store() && (alone || !self.safety);
        let what = match self.args.search {
            None => "runs with few scheduler delays first",
            Some(_) => "in place of --search: runs with few scheduler delays first",
        };
        let delays = delays.then(|| ("--delay auto".to_owned(), what));
        breadth.into_iter().chain(delays)
    }

    /// Less memory for each state, or fewer states.
    fn smaller(&self) -> Vec<Advice> {
        let args = self.args;
        let mut advice = Vec::new();
        if args.no_optimize {
            advice.push(("without --no-optimize".to_owned(), "fewer states"));
        }
        if self.property.reduction == UNREDUCED_TO_BE_SAVED {
            advice.push(("without --checkpoint and --resume".to_owned(), "fewer states, if steps are independent"));
        }
        if args.no_reduction {
            advice.push(("without --no-reduction".to_owned(), "fewer states, if steps are independent"));
        }
        if self.safety && self.plain && !self.is_saved() && args.question.threads.is_none_or(|threads| threads == 1) {
            if self.has_exact_store() && self.property.bytes_per_state > BYTES_PER_STATE_MANY {
                advice.push((
                    "--store hash".to_owned(),
                    "less memory per state; may miss states, with a very small probability",
                ));
            }
            if args.store != Some(StoreKind::Bitstate) {
                advice.push(("--store bitstate".to_owned(), "a few bits per state; may miss states"));
            }
        }
        advice
    }

    fn deeper(&self) -> Vec<Advice> {
        let asked = &self.args.question;
        if let Some(bound) = asked.delays.depth_bound {
            return vec![(format!("--depth-bound {}", bound.saturating_mul(2)), "longer runs")];
        }
        let Some(max) = self.args.max_depth else { return Vec::new() };
        let mut advice = vec![(format!("--max-depth {}", max.saturating_mul(MORE)), "longer runs")];
        if self.plain && !self.fair {
            advice.push((format!("--depth-bound {max}"), "in place of --max-depth: all runs of this length"));
        }
        advice
    }

    fn more_delays(&self) -> Vec<Advice> {
        let delays = &self.args.question.delays;
        let max =
            delays.max_delays.map(|max| (format!("--max-delays {}", max.saturating_mul(2).max(1)), "more delays"));
        let choices = delays.choice_bound.filter(|_| self.safety);
        let choices = choices
            .map(|max| (format!("--choice-bound {}", max.saturating_mul(2).max(1)), "more non-default branches"));
        max.into_iter().chain(choices).collect()
    }

    /// Everything was looked at, by a search that may miss something.
    fn surer(&self) -> Vec<Advice> {
        let sampled = self.args.question.delays.delay_mode == Some(Mode::Sample);
        if sampled {
            return vec![("--delay-mode exact".to_owned(), "all runs with that many delays, not a sample")];
        }
        if self.safety && !self.has_exact_store() {
            return vec![("--store tree".to_owned(), "misses no state")];
        }
        Vec::new()
    }
}

/// A line for each flag.
pub fn lines(advice: &[Advice]) -> Vec<String> {
    let width = advice.iter().map(|(flag, _)| flag.chars().count()).max().unwrap_or(0);
    advice.iter().map(|(flag, what)| format!("{flag:<width$}  {what}")).collect()
}
