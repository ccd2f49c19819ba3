//! The sentences that say what a verdict rests on, for all searches.
//!
//! A sentence says what was found, or that nothing was; how far was searched; and why no further. Only where everything was
//! looked at, it says that nothing *can* happen.

use fabius_base::{Limits, StopReason};
use fabius_counterexample::ErrorKind;
use fabius_program::{Move, meaning::Fault};
use fabius_search::delay_bounded::Coverage;
use fabius_search::store::Exactness;
use fabius_search::{Completeness, CycleOutcome, Outcome, SampleStatistics, Statistics};
use fabius_task::query::LivenessQuery;
use fabius_task::report::{ViolationClass, ViolationReport};
use fabius_task::scheduler::Chosen;
use fabius_task::settings::{Delaying, Fairness, SampleKind, Settings};
use fabius_task::words::{counted, grouped, limit_reached};

/// What is known of a model without violations of safety.
const SAFE: &str = "no assertion can fail, no invalid end state, no runtime error";

/// This many properties are named that the same search proved.
const NAMED_MAX: usize = 2;

/// What a verdict rests on, in the parts of one sentence. What ended the search is a part of its own: where searches take turns,
/// that is not the end of the one that got furthest.
#[derive(Clone, Default)]
pub struct Reason {
    /// What is known, and what leads over to the end of the search.
    known: String,
    /// What ended the search before it had looked at everything, where the sentence says so.
    end: Option<StopReason>,
    /// What makes it worth less.
    but: Option<String>,
    /// The checkpoint from which the search can go on.
    checkpoint: Option<String>,
}

impl Reason {
    /// Begins with what is known.
    pub fn new(known: impl Into<String>) -> Self {
        Self { known: known.into(), ..Self::default() }
    }

    /// Says how many states were looked at.
    fn searched(self, states: u64) -> Self {
        let known = format!("{} (searched {})", self.known, counted(states, "state"));
        Self { known, ..self }
    }

    /// Says what comes on top.
    fn and(self, more: &str) -> Self {
        let known = format!("{}; {more}", self.known);
        Self { known, ..self }
    }

    /// Says what ended the search after what is known.
    fn then(self, end: Completeness) -> Self {
        Self { end: stop_reason(end), ..self.and("then ") }
    }

    /// Says why it is no proof.
    fn no_proof(self, why: &str) -> Self {
        self.and(&format!("this is not a proof: {why}"))
    }

    /// Says what ended the search, and that it is no proof therefore.
    fn unproven(self, end: Completeness) -> Self {
        Self { end: stop_reason(end), ..self.no_proof("") }
    }

    /// Says what ended the search, and that there may be more than it found.
    fn may_be_more(self, end: Completeness) -> Self {
        Self { end: stop_reason(end), ..self.and("there may be more: ") }
    }

    /// Says what is known beside it.
    pub fn also(self, what: &str) -> Self {
        let known = format!("{}{what}", self.known);
        Self { known, ..self }
    }

    /// Names the properties that the same search proved.
    pub fn together_with(self, others: &[&str]) -> Self {
        // One more name is as short as that there is one more.
        let named = if others.len() <= NAMED_MAX + 1 { others.len() } else { NAMED_MAX };
        let (named, rest) = others.split_at(named);
        let mut names: Vec<String> = named.iter().map(|name| format!("`{name}`")).collect();
        names.extend((!rest.is_empty()).then(|| format!("{} more", rest.len())));
        let last = names.pop().unwrap_or_default();
        let names = if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) };
        self.and(&format!("proved in one search with {names}"))
    }

    /// Says what makes it worth less.
    pub fn but(self, what: String) -> Self {
        Self { but: Some(what), ..self }
    }

    /// Says why the search ended, where that is no limit of the check.
    pub fn ended_since(self, why: &str) -> Self {
        Self { known: format!("{}{why}", self.known), end: None, ..self }
    }

    /// Names the checkpoint from which the search can go on.
    pub fn resumable_from(self, checkpoint: String) -> Self {
        Self { checkpoint: Some(checkpoint), ..self }
    }

    /// The same knowledge, of a search that ended as another one did: its own end, in a pause, is nobody's limit.
    pub fn ended_like(self, other: &Self) -> Self {
        let end = self.end.map(|own| other.end.unwrap_or(own));
        Self { end, ..self }
    }

    /// The sentence, of a check with these limits.
    pub fn sentence(&self, limits: &Limits) -> String {
        let end = self.end.map(|end| limit_reached(Completeness::Stopped(end), limits)).unwrap_or_default();
        let but = self.but.as_ref().map(|what| format!(", but {what}")).unwrap_or_default();
        let resume =
            self.checkpoint.as_ref().map(|file| format!("; resume with `--resume {file}`")).unwrap_or_default();
        format!("{}{end}{but}{resume}", self.known)
    }
}

/// What ended a search before it had looked at everything.
fn stop_reason(completeness: Completeness) -> Option<StopReason> {
    match completeness {
        Completeness::Stopped(reason) => Some(reason),
        Completeness::Exhaustive | Completeness::FirstViolation => None,
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
pub fn exhaustive(outcome: &Outcome<Move, Fault>) -> Reason {
    let states = counted(outcome.statistics.states, "state");
    let missed = missed(outcome.exactness);
    let found_none = || Reason::new(format!("no error found in {states}"));
    match (outcome.statistics.violations, outcome.completeness) {
        (0, Completeness::Exhaustive) if outcome.exactness.is_exact() => Reason::new(SAFE),
        (0, Completeness::Exhaustive) => found_none().no_proof(&missed),
        (0, end) => found_none().unproven(end),
        (_, Completeness::FirstViolation) => {
            let what = outcome.violations.first().map(|violation| ErrorKind::from(violation.kind).sentence());
            let what = what.unwrap_or_default();
            Reason::new(what).and("stopped at the first violation")
        }
        (found, end) => {
            let kinds = counted(outcome.violations.len() as u64, "different violation");
            let all = Reason::new(format!("{kinds}, met {} in all", times(found)));
            match end {
                Completeness::Exhaustive if outcome.exactness.is_exact() => all.and("everything was explored"),
                Completeness::Exhaustive => all.and(&format!("there may be more: {missed}")),
                _ => all.may_be_more(end),
            }
        }
    }
}

/// About reachable states, if those who searched them could not tell in the end what they found.
pub fn not_told(statistics: &Statistics, why: &str) -> Reason {
    let states = counted(statistics.states, "state");
    match statistics.violations {
        0 => Reason::new(format!("no error found in {states}")).no_proof(why),
        _ => Reason::new(format!("a violation was met in {states}, but the path to it is lost: {why}")),
    }
}

/// About runs by increasing depth, for safety. Atomic sequences count as one step.
pub fn by_depth(outcome: &Outcome<Move, Fault>, settings: &Settings) -> Reason {
    let found_none = |text: String| Reason::new(text).searched(outcome.statistics.states);
    let within = outcome.rounds.last().map(|round| steps(round.bound));
    match (outcome.violations.first(), outcome.completeness, within) {
        (Some(violation), _, _) => {
            let what = ErrorKind::from(violation.kind).sentence();
            let stop = if settings.keep_going { "" } else { "; stopped at the first violation" };
            Reason::new(format!("{what}{stop}"))
        }
        (None, Completeness::Exhaustive, _) => Reason::new(SAFE),
        (None, Completeness::Stopped(StopReason::Depth), Some(within)) => {
            found_none(format!("safe within {within}")).and("longer runs were not looked at")
        }
        (None, end, Some(within)) => found_none(format!("safe within {within}")).then(end),
        (None, end, None) => found_none("no error found".to_owned()).unproven(end),
    }
}

/// What a search by increasing number of delays was asked.
pub struct DelayBounds {
    /// Whether it is known which delays lead to nothing new.
    pub exact: bool,
    /// At most this many choices.
    pub choices: Option<u32>,
    /// Whether the model has sealed places.
    pub is_sealed: bool,
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
pub fn by_delays(outcome: &Outcome<Move, Fault>, asked: &DelayBounds, chosen: &Chosen) -> Reason {
    let searched = |text: String| Reason::new(text).searched(outcome.statistics.states);
    let with_schedulers = || format!("{} with the scheduler's", counted(outcome.product_states, "state"));
    let under = under(chosen);
    match outcome.coverage {
        Coverage::EverySchedule if outcome.exactness.is_exact() => {
            let which = if asked.is_sealed { " that keeps to the seals" } else { "" };
            let all = Reason::new(format!("safe under every schedule{which}: {SAFE}"));
            if asked.exact { all.and(&with_schedulers()) } else { all }
        }
        Coverage::EverySchedule => searched("no error found".to_owned()).no_proof(&missed(outcome.exactness)),
        Coverage::EveryDelay => {
            let choices = counted(u64::from(asked.choices.unwrap_or(0)), "choice");
            let nothing = match asked.exact {
                true => format!("safe for all schedules with at most {choices}"),
                false => format!("no error found up to {choices}"),
            };
            let more = "more delays lead to nothing new, runs with more choices were not looked at";
            searched(nothing).and(more)
        }
        Coverage::Bound(bound) if asked.exact => {
            let searched = counted(outcome.statistics.states, "state");
            Reason::new(format!("{} {under} (searched {searched}, {})", asked.nothing(bound), with_schedulers()))
        }
        Coverage::Bound(bound) => searched(format!("{} {under}", asked.nothing(bound))),
        Coverage::Ended(Some(bound)) => {
            searched(format!("{} {under}", asked.nothing(bound))).then(outcome.completeness)
        }
        Coverage::Ended(None) => searched(format!("no error found {under}")).unproven(outcome.completeness),
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
pub fn violated(
    first: &ViolationReport,
    keep_going: bool,
    different: usize,
    chosen: &Chosen,
    choices: Option<u32>,
) -> Reason {
    let Some(delays) = &first.delays else {
        return Reason::new(format!("{}: {}", first.kind.sentence(), counted(first.steps, "step")));
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
    Reason::new(format!("{what}: {delays}, {steps}, {}{fewest}{more}", under(chosen)))
}

/// About runs at random in which nothing was found, each with this many delays if they have any, and what ended them.
pub fn samples(
    (samples, end): (&SampleStatistics, Completeness),
    kind: SampleKind,
    delaying: &Delaying,
    delays_each: u32,
    chosen: &Chosen,
) -> Reason {
    let SampleStatistics { runs: drawn, length, probability } = *samples;
    let runs = counted(drawn, "run");
    let how = match kind {
        SampleKind::Delays => format!("with {} each {}", delays(delays_each), under(chosen)),
        SampleKind::Walk => "at random".to_owned(),
        SampleKind::Pct => "with random priorities".to_owned(),
        SampleKind::Pos => "with random priorities of steps".to_owned(),
        SampleKind::Surw => "with all orders of steps about equally likely".to_owned(),
    };
    let error = match kind {
        SampleKind::Delays => {
            let within = counted(length, "macro step");
            format!("an error that needs {} and at most {within}", delays(delays_each))
        }
        _ => format!("an error of depth {}", delays_each + 1),
    };
    let likely = |probability: f64| match (1.0 / probability).min(1e15) as u64 {
        0 | 1 => "certainty".to_owned(),
        one_in => format!("a probability of at least 1 in {}", grouped(one_in)),
    };
    let hope = probability.filter(|_| drawn != 0).map_or_else(String::new, |probability| {
        format!(
            "; {error} shows in each run with {}, if no process chooses between steps of its own",
            likely(probability)
        )
    });
    let known = format!("no error found in {runs} {how} (seed {}){hope}", delaying.seed.unwrap_or_default());
    match end {
        // As many runs were drawn as were asked for.
        Completeness::Stopped(StopReason::Delays) => Reason::new(known),
        end => Reason::new(known).then(end),
    }
}

/// What the runs do that are looked for: *a run* …
fn what_runs_do(query: &LivenessQuery) -> &'static str {
    match (query.class, &query.property) {
        (ViolationClass::NonProgressCycle, _) => "goes on for ever without progress",
        (_, Some(_)) => "violates it",
        (_, None) => "passes acceptance labels for ever",
    }
}

/// Which runs count.
fn fair(settings: &Settings) -> &'static str {
    match settings.fairness {
        Fairness::None => "",
        Fairness::Weak => "weakly fair ",
        Fairness::Strong => "strongly fair ",
    }
}

/// About a search for infinite runs that found none of those that are looked for, and proves nothing.
fn none_found(query: &LivenessQuery, found: &CycleOutcome<Move, Fault>, settings: &Settings) -> Reason {
    let known = format!("found no {}run that {}", fair(settings), what_runs_do(query));
    Reason::new(known).searched(found.statistics.states)
}

/// Why nothing is known of runs that stay in the atomic sequence at a line for ever, in a sentence.
pub fn not_evaluated_inside(line: u32) -> String {
    format!("the atomic sequence at line {line} may never end, and the property is not evaluated inside it")
}

/// About infinite runs, where one of them stays in an atomic sequence for ever, and so is not known to be one that is looked for.
pub fn cycles_but_for_atomic(
    query: &LivenessQuery,
    found: &CycleOutcome<Move, Fault>,
    settings: &Settings,
    line: u32,
) -> Reason {
    none_found(query, found, settings).no_proof(&not_evaluated_inside(line))
}

/// About all infinite runs.
pub fn cycles(query: &LivenessQuery, found: &CycleOutcome<Move, Fault>, settings: &Settings) -> Reason {
    let run = format!("{}run {}", fair(settings), what_runs_do(query));
    match (found.first(), found.completeness) {
        (Some(_), _) => Reason::new(format!("a {run}")),
        (None, Completeness::Exhaustive) => Reason::new(format!("no {run}")),
        (None, end) => none_found(query, found, settings).unproven(end),
    }
}

/// What keeps a search by rounds from being a proof.
fn atomic_may_not_end(found: &CycleOutcome<Move, Fault>) -> String {
    format!("in {} an atomic sequence may never end", counted(found.infinite_macro_steps, "state"))
}

/// About infinite runs by increasing depth.
pub fn cycles_by_depth(query: &LivenessQuery, found: &CycleOutcome<Move, Fault>) -> Reason {
    let what = what_runs_do(query);
    let searched = |text: String| Reason::new(text).searched(found.statistics.states);
    if found.first().is_some() {
        let bound = found.rounds.last().map_or(0, |round| round.bound);
        return Reason::new(format!("a run {what}, and stays within {} of the start", steps(bound)));
    }
    match found.coverage {
        Coverage::EverySchedule | Coverage::EveryDelay => Reason::new(format!("no run {what}")),
        Coverage::Bound(bound) if found.infinite_macro_steps > 0 => {
            searched(format!("found no run that {what} within {}", steps(bound))).no_proof(&atomic_may_not_end(found))
        }
        Coverage::Bound(bound) => searched(format!("no run {what} and stays within {} of the start", steps(bound)))
            .and("others were not looked at"),
        Coverage::Ended(Some(bound)) => {
            searched(format!("found no run that {what} within {} of the start", steps(bound))).then(found.completeness)
        }
        Coverage::Ended(None) => searched(format!("found no run that {what}")).unproven(found.completeness),
    }
}

/// About infinite runs by increasing number of delays.
pub fn cycles_by_delays(query: &LivenessQuery, found: &CycleOutcome<Move, Fault>, chosen: &Chosen) -> Reason {
    let what = what_runs_do(query);
    let searched = |text: String| Reason::new(text).searched(found.statistics.states);
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
        return Reason::new(format!("a run {what}: found {within} {under}{cost}"));
    }
    let up_to = |bound: u32| searched(format!("found no run that {what}, up to {} {under}", delays(bound)));
    match found.coverage {
        Coverage::EverySchedule | Coverage::EveryDelay => Reason::new(format!("no run {what}, under any schedule")),
        Coverage::Bound(_) if found.infinite_macro_steps > 0 => {
            searched(format!("found no run that {what}")).no_proof(&atomic_may_not_end(found))
        }
        Coverage::Bound(bound) => up_to(bound),
        Coverage::Ended(Some(bound)) => up_to(bound).then(found.completeness),
        Coverage::Ended(None) => searched(format!("found no run that {what}, {under}")).unproven(found.completeness),
    }
}

/// What is added where the run shown is not the one that the search found.
pub fn shows_shortest(reason: Reason) -> Reason {
    reason.and("the run shown is the shortest one found, whatever its delays")
}

/// About what was searched from a state: what was found there and how far it is, or what kept runs from being followed.
pub fn from_here(
    limits: &Limits,
    found: Option<(ViolationClass, usize)>,
    states: u64,
    completeness: Completeness,
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
            let limit = limit_reached(completeness, limits);
            format!("no violation found in {states}, not exhaustive: {limit}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_was_ended_in_a_pause_tells_of_the_end_of_the_last_one() {
        let limits = Limits { states_max: Some(9_000), ..Limits::default() };
        let stopped = |reason| Reason::new("no error found").unproven(Completeness::Stopped(reason));
        let furthest = || stopped(StopReason::Cancelled);
        let sentence = |last: &Reason| furthest().ended_like(last).sentence(&limits);
        assert_eq!(
            sentence(&stopped(StopReason::States)),
            "no error found; this is not a proof: the limit of 9 000 states was reached"
        );
        let all_seen = Reason::new(SAFE).but("runs ended in a division by zero".to_owned());
        assert_eq!(sentence(&all_seen), "no error found; this is not a proof: it was interrupted");
        let cut = furthest().but("runs ended in a division by zero".to_owned());
        assert_eq!(
            cut.ended_like(&stopped(StopReason::Timeout)).sentence(&limits),
            "no error found; this is not a proof: the time allowed was used up, but runs ended in a division by zero"
        );
    }
}
