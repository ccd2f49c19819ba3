//! The sentences that say what a verdict rests on, for all searches.
//!
//! A sentence says what was found, or that nothing was; how far was searched; and why no further. Only where everything was
//! looked at, it says that nothing *can* happen.

use crate::task::Task;
use fabius_base::{Limits, StopReason};
use fabius_counterexample::ErrorKind;
use fabius_program::{Move, meaning::Fault};
use fabius_search::delay_bounded::Coverage;
use fabius_search::store::Exactness;
use fabius_search::{Completeness, CycleOutcome, Outcome, SampleStatistics};
use fabius_task::query::LivenessQuery;
use fabius_task::report::{ViolationClass, ViolationReport};
use fabius_task::scheduler::Chosen;
use fabius_task::settings::{Delaying, Fairness, SampleKind, Settings};
use fabius_task::words::{counted, grouped, limit_reached};

/// What is known of a model without violations of safety.
const SAFE: &str = "no assertion can fail, no invalid end state, no runtime error";

/// A sentence about a search that looked at this number of states.
struct Sentence {
    text: String,
    states: u64,
}

impl Sentence {
    /// Begins with what is known.
    fn new(states: u64, text: impl Into<String>) -> Self {
        Self { text: text.into(), states }
    }

    /// Says how many states were looked at.
    fn searched(self) -> Self {
        let text = format!("{} (searched {})", self.text, counted(self.states, "state"));
        Self { text, ..self }
    }

    /// Says what comes on top.
    fn and(self, more: &str) -> String {
        format!("{}; {more}", self.text)
    }

    /// Says what ended the search after what is known.
    fn then(self, limit: &str) -> String {
        format!("{}; then {limit}", self.text)
    }

    /// Says why it is no proof.
    fn no_proof(self, why: &str) -> String {
        format!("{}; this is not a proof: {why}", self.text)
    }
}

/// A number of steps within which a search stayed.
fn steps(bound: u32) -> String {
    counted(u64::from(bound), "step")
}

fn delays(bound: u32) -> String {
    counted(u64::from(bound), "delay")
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{} times", grouped(count)) }
}

/// What a store may have missed, in words.
fn missed(exactness: Exactness) -> String {
    match exactness {
        Exactness::Exact => String::new(),
        Exactness::Fingerprint { omission_probability } => {
            format!("two states may have been taken for one, with a probability of about {omission_probability:.1e}")
        }
        Exactness::Bitstate { omission_probability_per_state, bits_per_state } => format!(
            "with {bits_per_state:.0} bits per state, about one in {:.0} states may have been missed",
            1.0 / omission_probability_per_state.max(1e-15)
        ),
    }
}

/// About all reachable states, for safety.
pub(crate) fn exhaustive(outcome: &Outcome<Move, Fault>, limits: &Limits) -> String {
    let states = counted(outcome.statistics.states, "state");
    let missed = missed(outcome.exactness);
    let found_none = || Sentence::new(outcome.statistics.states, format!("no error found in {states}"));
    match (outcome.statistics.violations, outcome.completeness) {
        (0, Completeness::Exhaustive) if outcome.exactness.is_exact() => SAFE.to_owned(),
        (0, Completeness::Exhaustive) => found_none().no_proof(&missed),
        (0, _) => found_none().no_proof(&limit_reached(outcome.completeness, limits)),
        (_, Completeness::FirstViolation) => {
            let what = outcome.violations.first().map(|violation| ErrorKind::from(violation.kind).sentence());
            let what = what.unwrap_or_default();
            format!("{what}; stopped at the first violation")
        }
        (found, completeness) => {
            let kinds = counted(outcome.violations.len() as u64, "different violation");
            let all = format!("{kinds}, met {} in all", times(found));
            match completeness {
                Completeness::Exhaustive if outcome.exactness.is_exact() => format!("{all}; everything was explored"),
                Completeness::Exhaustive => format!("{all}; there may be more: {missed}"),
                _ => format!("{all}; there may be more: {}", limit_reached(completeness, limits)),
            }
        }
    }
}

/// About runs by increasing depth, for safety. Atomic sequences count as one step.
pub(crate) fn by_depth(outcome: &Outcome<Move, Fault>, settings: &Settings) -> String {
    let found_none = |text: String| Sentence::new(outcome.statistics.states, text).searched();
    let within = outcome.rounds.last().map(|round| steps(round.bound));
    match (outcome.violations.first(), outcome.completeness, within) {
        (Some(violation), _, _) => {
            let what = ErrorKind::from(violation.kind).sentence();
            let stop = if settings.keep_going { "" } else { "; stopped at the first violation" };
            format!("{what}{stop}")
        }
        (None, Completeness::Exhaustive, _) => SAFE.to_owned(),
        (None, Completeness::Stopped(StopReason::Depth), Some(within)) => {
            found_none(format!("safe within {within}")).and("longer runs were not looked at")
        }
        (None, completeness, within) => {
            let limit = limit_reached(completeness, &settings.limits);
            match within {
                Some(within) => found_none(format!("safe within {within}")).then(&limit),
                None => found_none("no error found".to_owned()).no_proof(&limit),
            }
        }
    }
}

/// What a search by increasing number of delays was asked.
pub(crate) struct DelayBounds {
    /// Whether it is known which delays lead to nothing new.
    pub exact: bool,
    /// At most this many choices.
    pub choices: Option<u32>,
    /// Whether the model has sealed places.
    pub is_sealed: bool,
    /// What the search may use.
    pub limits: Limits,
}

impl DelayBounds {
    /// These bounds, in words.
    fn within(&self, bound: u32) -> String {
        match self.choices {
            Some(choices) => format!("{} and {}", delays(bound), counted(u64::from(choices), "choice")),
            None => delays(bound),
        }
    }

    /// *Safe*, where that is known, and that no error was found, where not.
    fn nothing(&self, bound: u32) -> String {
        match self.exact {
            true => format!("safe with at most {}", self.within(bound)),
            false => format!("no error found up to {}", self.within(bound)),
        }
    }
}

/// About runs by increasing number of delays, for safety, if nothing was found.
pub(crate) fn by_delays(outcome: &Outcome<Move, Fault>, asked: &DelayBounds, chosen: &Chosen) -> String {
    let sentence = |text: String| Sentence::new(outcome.statistics.states, text);
    let with_schedulers = || format!("{} with the scheduler's", counted(outcome.product_states, "state"));
    let under = under(chosen);
    match outcome.coverage {
        Coverage::EverySchedule if outcome.exactness.is_exact() => {
            let which = if asked.is_sealed { " that keeps to the seals" } else { "" };
            let all = sentence(format!("safe under every schedule{which}: {SAFE}"));
            if asked.exact { all.and(&with_schedulers()) } else { all.text }
        }
        Coverage::EverySchedule => {
            sentence("no error found".to_owned()).searched().no_proof(&missed(outcome.exactness))
        }
        Coverage::EveryDelay => {
            let choices = counted(u64::from(asked.choices.unwrap_or(0)), "choice");
            let nothing = match asked.exact {
                true => format!("safe for all schedules with at most {choices}"),
                false => format!("no error found up to {choices}"),
            };
            let more = "more delays lead to nothing new, runs with more choices were not looked at";
            sentence(nothing).searched().and(more)
        }
        Coverage::Bound(bound) if asked.exact => {
            let searched = counted(outcome.statistics.states, "state");
            format!("{} {under} (searched {searched}, {})", asked.nothing(bound), with_schedulers())
        }
        Coverage::Bound(bound) => sentence(format!("{} {under}", asked.nothing(bound))).searched().text,
        Coverage::Ended(bound) => {
            let limit = limit_reached(outcome.completeness, &asked.limits);
            match bound {
                Some(bound) => sentence(format!("{} {under}", asked.nothing(bound))).searched().then(&limit),
                None => sentence(format!("no error found {under}")).searched().no_proof(&limit),
            }
        }
    }
}

/// The scheduler of a search, and why it was chosen if nobody did.
fn under(chosen: &Chosen) -> String {
    match chosen.why {
        Some(why) => format!("under {}, {why}", chosen.kind.name()),
        None => format!("under {}", chosen.kind.name()),
    }
}

/// About a violation that a search by increasing number of delays found: how many delays and steps it takes.
pub(crate) fn violated(
    first: &ViolationReport,
    keep_going: bool,
    different: usize,
    chosen: &Chosen,
    choices: Option<u32>,
) -> String {
    let Some(delays) = &first.delays else {
        return format!("{}: {}", first.kind.sentence(), counted(first.steps, "step"));
    };
    let fewest = match (first.fewest_delays, choices) {
        // Nothing is fewer than none.
        (Some(true), Some(choices)) if !delays.is_empty() => {
            format!(", and not with fewer within {}", counted(u64::from(choices), "choice"))
        }
        (Some(true), _) => ", and not with fewer".to_owned(),
        _ => String::new(),
    };
    let delays = counted(delays.len() as u64, "delay");
    let steps = counted(first.steps, "step");
    let what = first.kind.sentence();
    let more = match (keep_going, different) {
        (false, _) => "; stopped at the first violation".to_owned(),
        (true, 1) => String::new(),
        (true, several) => format!("; {} in all", counted(several as u64, "different violation")),
    };
    format!("{what}: {delays}, {steps}, {}{fewest}{more}", under(chosen))
}

/// About runs at random in which nothing was found, each with so many delays if they have any.
pub(crate) fn samples(
    samples: &SampleStatistics,
    kind: SampleKind,
    (delaying, delays_each): (&Delaying, u32),
    chosen: &Chosen,
) -> String {
    let SampleStatistics { runs, length, probability } = *samples;
    let runs = counted(runs, "run");
    let how = match kind {
        SampleKind::Delays => format!("with {} each {}", delays(delays_each), under(chosen)),
        SampleKind::Walk => "at random".to_owned(),
        SampleKind::Pct => "with random priorities".to_owned(),
        SampleKind::Pos => "with random priorities of steps".to_owned(),
        SampleKind::Surw => "with all orders of steps equally likely".to_owned(),
    };
    let hope = match (probability, kind) {
        (Some(probability), SampleKind::Delays) => {
            let one_in = grouped((1.0 / probability).min(1e15) as u64);
            let needs = delays(delays_each);
            format!(
                "; an error that needs {needs} shows in at least one of {one_in} runs, if it takes at most {length} turns"
            )
        }
        (Some(probability), _) => {
            let one_in = grouped((1.0 / probability).min(1e15) as u64);
            format!("; an error of depth {} shows in at least one of {one_in} runs", delays_each + 1)
        }
        (None, _) => String::new(),
    };
    format!("no error found in {runs} {how} (seed {}){hope}", delaying.seed.unwrap_or_default())
}

/// What the runs do that are looked for: *a run* …
fn what_runs_do(query: &LivenessQuery) -> &'static str {
    match (query.class, &query.property) {
        (ViolationClass::NonProgressCycle, _) => "goes on for ever without progress",
        (_, Some(_)) => "violates it",
        (_, None) => "passes acceptance labels for ever",
    }
}

/// About all infinite runs.
pub(crate) fn cycles(query: &LivenessQuery, found: &CycleOutcome<Move, Fault>, settings: &Settings) -> String {
    let fair = match settings.fairness {
        Fairness::None => "",
        Fairness::Weak => "weakly fair ",
        Fairness::Strong => "strongly fair ",
    };
    let run = format!("{fair}run {}", what_runs_do(query));
    match (found.first(), found.completeness) {
        (Some(_), _) => format!("a {run}"),
        (None, Completeness::Exhaustive) => format!("no {run}"),
        (None, stopped) => {
            let states = counted(found.statistics.states, "state");
            let limit = limit_reached(stopped, &settings.limits);
            format!("no {run}, as far as {states} tell; this is not a proof: {limit}")
        }
    }
}

/// What keeps a search by rounds from being a proof.
fn atomic_may_not_end(found: &CycleOutcome<Move, Fault>) -> String {
    format!("in {} an atomic sequence may never end", counted(found.infinite_macro_steps, "state"))
}

/// About infinite runs by increasing depth.
pub(crate) fn cycles_by_depth(query: &LivenessQuery, found: &CycleOutcome<Move, Fault>, settings: &Settings) -> String {
    let what = what_runs_do(query);
    let sentence = |text: String| Sentence::new(found.statistics.states, text).searched();
    if found.first().is_some() {
        let bound = found.rounds.last().map_or(0, |round| round.bound);
        return format!("a run {what}, and stays within {} of the start", steps(bound));
    }
    match found.coverage {
        Coverage::EverySchedule | Coverage::EveryDelay => format!("no run {what}"),
        Coverage::Bound(bound) if found.infinite_macro_steps > 0 => {
            sentence(format!("found no run that {what} within {}", steps(bound))).no_proof(&atomic_may_not_end(found))
        }
        Coverage::Bound(bound) => sentence(format!("no run {what} and stays within {} of the start", steps(bound)))
            .and("others were not looked at"),
        Coverage::Ended(last) => {
            let limit = limit_reached(found.completeness, &settings.limits);
            match last {
                Some(bound) => {
                    sentence(format!("found no run that {what} within {} of the start", steps(bound))).then(&limit)
                }
                None => sentence(format!("found no run that {what}")).no_proof(&limit),
            }
        }
    }
}

/// About infinite runs by increasing number of delays.
pub(crate) fn cycles_by_delays(
    query: &LivenessQuery,
    found: &CycleOutcome<Move, Fault>,
    settings: &Settings,
    chosen: &Chosen,
) -> String {
    let what = what_runs_do(query);
    let sentence = |text: String| Sentence::new(found.statistics.states, text).searched();
    let under = under(chosen);
    if found.first().is_some() {
        let within = match found.rounds.last().map_or(0, |round| round.bound) {
            0 => "without a delay".to_owned(),
            bound => format!("with up to {}", delays(bound)),
        };
        let cost = match found.loop_delays {
            Some(0) => "; the loop goes on without any".to_owned(),
            Some(each) => format!("; each round of the loop takes {}", delays(each)),
            None => String::new(),
        };
        return format!("a run {what}: found {within} {under}{cost}");
    }
    let up_to = |bound: u32| sentence(format!("found no run that {what}, up to {} {under}", delays(bound)));
    match found.coverage {
        Coverage::EverySchedule | Coverage::EveryDelay => format!("no run {what}, under any schedule"),
        Coverage::Bound(_) if found.infinite_macro_steps > 0 => {
            sentence(format!("found no run that {what}")).no_proof(&atomic_may_not_end(found))
        }
        Coverage::Bound(bound) => up_to(bound).text,
        Coverage::Ended(last) => {
            let limit = limit_reached(found.completeness, &settings.limits);
            match last {
                Some(bound) => up_to(bound).then(&limit),
                None => sentence(format!("found no run that {what}, {under}")).no_proof(&limit),
            }
        }
    }
}

/// About what was searched from a state: what was found there and how far it is, or what kept runs from being followed.
pub(crate) fn from_here(
    task: &Task<'_>,
    found: Option<(ViolationClass, usize)>,
    (states, completeness): (u64, Completeness),
    cut: Option<&str>,
) -> String {
    let states = counted(states, "state");
    match (found, cut) {
        (Some((kind, steps)), _) => format!("{}, {} further on", kind.sentence(), counted(steps as u64, "step")),
        (None, Some(cut)) => format!("no violation found in {states}, but {cut}"),
        (None, None) if completeness == Completeness::Exhaustive => {
            format!("no violation is reachable ({states}, exhaustive)")
        }
        (None, None) => {
            let limit = limit_reached(completeness, &task.settings.limits);
            format!("no violation found in {states}, not exhaustive: {limit}")
        }
    }
}
