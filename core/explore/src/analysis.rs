//! What a run depends on: the steps that matter, who wrote a value, and other runs to the same error.

use crate::Exploration;
use crate::drive::Stop;
use crate::tree::NodeId;
use fabius_analysis::{as_counterexample, fewest_switches};
use fabius_causes::{AnotherCause, CausesContext, NotAsked, another_cause};
use fabius_engine::check;
use fabius_engine::settings::Progress;
use fabius_engine::{
    CheckContext, Counterexample, DelayMode, Delaying, ExplorationTarget, Fairness, Loaded, Order, Settings,
};
use fabius_program::Move;
use fabius_witness::{Claim, Step, essential, reads};
use std::collections::HashSet;
use std::sync::Arc;

/// The reference interpreter may take this many steps to find out which ones matter.
const ESSENTIAL_STEPS_MAX: u64 = 100_000;
/// A chain of writers has at most this many links, …
const WRITES_MAX: usize = 40;
/// … and is at most so deep.
const DEPTH_MAX: usize = 12;
/// This many steps are looked at for each of them.
const LOOK_BACK_MAX: usize = 10_000;

/// The steps of a run that matter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Essential {
    /// Where they lead, in order.
    pub nodes: Vec<NodeId>,
    /// How many steps the run has.
    pub of: usize,
}

/// A link in a chain of writers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Write {
    /// 0 is the value that was asked for; 1 what its writer read or received, and so on.
    pub depth: usize,
    /// What was written: a variable, or the channel that a message was sent to.
    pub name: String,
    /// The step that wrote it leads here.
    pub node: NodeId,
    /// The value that it wrote, or the message that it sent.
    pub value: String,
}

/// Which other run to an error is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Alternative {
    /// The one with the fewest steps.
    Shortest,
    /// The one in which the process changes the least often.
    FewestSwitches,
    /// The one that disturbs the scheduler that suits the model the least often.
    FewestDelays,
    /// One to a violation of the same property that has another cause than those that are known.
    AnotherCause,
}

impl Alternative {
    /// All, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Shortest, Self::FewestSwitches, Self::FewestDelays, Self::AnotherCause];

    /// It in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Shortest => "the shortest",
            Self::FewestSwitches => "the fewest changes of process",
            Self::FewestDelays => "the fewest delays",
            Self::AnotherCause => "another cause",
        }
    }
}

impl Exploration {
    /// What the line shows.
    fn shown(&self) -> Claim {
        let tip = self.line().last().copied().unwrap_or(NodeId::ROOT);
        if let (Some(lasso), None) = (self.lasso(), self.fault(tip)) {
            let start = self.depth(lasso.start);
            return Claim::Cycle { start, shows: fabius_witness::CycleClaim::NOTHING };
        }
        match self.fault(tip) {
            Some(fault) => Claim::Fault(fault),
            None if self.ends_in_deadlock(tip) => Claim::InvalidEnd,
            None => Claim::Reaches,
        }
    }

    fn ends_in_deadlock(&self, tip: NodeId) -> bool {
        let state = self.state_at(tip);
        fabius_witness::ending(&self.target().program, &state) == fabius_witness::Ending::Invalid
    }

    /// The steps of the line without which it does not show what it shows (of an infinite run, all): *6 of 37*.
    pub fn essential(&self) -> Essential {
        let path = self.path(self.line().last().copied().unwrap_or(NodeId::ROOT));
        let program = &self.target().program;
        let kept = essential(program, self.target().watch, &path, self.shown(), ESSENTIAL_STEPS_MAX);
        let nodes = kept.into_iter().filter_map(|index| self.line().get(index + 1).copied());
        Essential { nodes: nodes.collect(), of: path.len() }
    }

    /// Who wrote a value last, and from what: the chain of writers, back through messages to the steps that sent them.
    /// `name` is the full name of a variable (`x`, `P[1]:x`) or of a channel.
    pub fn writers(&self, name: &str) -> Vec<Write> {
        let mut chain = Chain { of: self, found: Vec::new(), seen: HashSet::new() };
        chain.follow(name, self.here(), 0);
        chain.found
    }

    /// What a search for another run to the error at the end of the line needs, however one came to that. Where the run never
    /// ends, or a claim is watched, only the shortest is looked for.
    ///
    /// # Errors
    /// If the line shows no error, or such a run is not looked for, in a sentence.
    pub fn alternative(&self, which: Alternative) -> Result<AlternativeSearch, String> {
        let tip = self.line().last().copied().unwrap_or(NodeId::ROOT);
        let fault = match self.shown() {
            Claim::Fault(fault) => Some(Some(fault)),
            Claim::InvalidEnd => Some(None),
            Claim::Cycle { .. } => None,
            Claim::Reaches => return Err("this run does not end in an error".to_owned()),
        };
        let like = match fault {
            _ if which == Alternative::AnotherCause => None,
            Some(fault) if self.target().watch.claim.is_none() => {
                Some(as_counterexample(self.loaded(), self.target(), self.path(tip), fault)?)
            }
            _ if which == Alternative::Shortest => None,
            _ => return Err(format!("{} can be found for errors of safety only", which.words())),
        };
        let (loaded, target, known) = (Arc::clone(self.loaded()), self.target().clone(), vec![self.path(tip)]);
        Ok(AlternativeSearch { loaded, target, which, like, known })
    }

    /// How often the process changes on the line.
    pub fn switches(&self) -> usize {
        let steps = self.line().iter().filter_map(|node| self.tree.step(*node));
        let pids: Vec<u8> = steps.filter(|step| !crate::is_of_claim(step)).map(|step| step.pid).collect();
        pids.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    /// Whether the line ends in an error, in a few words.
    pub fn error_of_line(&self) -> Option<String> {
        match self.shown() {
            Claim::Fault(fault) => Some(fault.to_string()),
            Claim::InvalidEnd => Some(Stop::Deadlock.sentence().to_owned()),
            Claim::Cycle { .. } => Some("the run never ends".to_owned()),
            Claim::Reaches => None,
        }
    }
}

/// A search for another run to an error, to be taken to another thread.
#[derive(Clone, Debug)]
pub struct AlternativeSearch {
    loaded: Arc<Loaded>,
    target: ExplorationTarget,
    which: Alternative,
    /// The run whose error is looked for; `None` if any run will do that violates the property.
    like: Option<Counterexample>,
    /// Runs that are known to violate the property.
    known: Vec<Path>,
}

/// The steps of a run, from the initial state.
pub type Path = Vec<Move>;

/// What a search for another run came to.
#[derive(Clone, Debug)]
pub enum OtherRun {
    /// A run.
    Found(Box<Counterexample>),
    /// None, and what that means.
    NotFound(String),
}

impl AlternativeSearch {
    /// The same, where these runs of the same program are known to violate the property, too.
    #[must_use]
    pub fn beside(mut self, runs: &[Path]) -> Self {
        self.known.extend_from_slice(runs);
        self
    }

    /// Searches, within the limits of the settings.
    ///
    /// # Errors
    /// If the model cannot be searched, in a sentence.
    pub fn run(&self, settings: &Settings, context: &mut CheckContext<'_>) -> Result<OtherRun, String> {
        let found = match (self.which, &self.like) {
            (Alternative::AnotherCause, _) => return self.another_cause(settings, context),
            (_, None) => self.shortest(settings, context)?,
            (_, Some(like)) => self.like(like, settings, context)?,
        };
        let none = || OtherRun::NotFound("no such run was found".to_owned());
        Ok(found.map_or_else(none, |found| OtherRun::Found(Box::new(found))))
    }

    /// A run that violates the property in another way.
    fn another_cause(&self, settings: &Settings, context: &mut CheckContext<'_>) -> Result<OtherRun, String> {
        if settings.fairness != Fairness::None {
            return Err("it is looked for among all infinite runs, not among fair ones".to_owned());
        }
        if settings.progress != Progress::States {
            return Err("it is looked for where states make progress, not transitions".to_owned());
        }
        let property = &self.target.property;
        let mut causes = CausesContext { cancel: context.cancel, now: context.now, observe: &mut |_, _| {} };
        match another_cause(&self.loaded, property, &self.known, settings.limits, &mut causes) {
            Err(NotAsked::Faulty) => Err("the model is faulty".to_owned()),
            Err(NotAsked::Refused(why)) | Ok(AnotherCause::Failed(why)) => Err(why),
            Ok(AnotherCause::Found(cause)) => Ok(OtherRun::Found(Box::new(cause.counterexample))),
            Ok(AnotherCause::Unknown(why)) => Ok(OtherRun::NotFound(format!("none was found: {why}"))),
            Ok(AnotherCause::Nothing(known)) => {
                let one = if known == 1 { "the one shown".to_owned() } else { format!("one of the {known} shown") };
                Ok(OtherRun::NotFound(format!("there is none: each run that violates {property} has {one}")))
            }
        }
    }

    /// A run to the same error.
    fn like(
        &self,
        like: &Counterexample,
        settings: &Settings,
        context: &mut CheckContext<'_>,
    ) -> Result<Option<Counterexample>, String> {
        let settings = Settings {
            properties: vec!["safety".to_owned()],
            keep_going: true,
            fairness: Fairness::None,
            ..settings.question_only()
        };
        let settings = match self.which {
            Alternative::Shortest | Alternative::AnotherCause => Settings { search: Order::BreadthFirst, ..settings },
            Alternative::FewestSwitches => {
                let states_max = settings.limits.states_max.unwrap_or(u64::MAX);
                let states_max = usize::try_from(states_max).unwrap_or(usize::MAX);
                return fewest_switches(&self.loaded, &self.target, like, states_max, context.cancel);
            }
            Alternative::FewestDelays => {
                let delaying = Delaying { mode: DelayMode::Exact, ..Delaying::default() };
                Settings { delaying: Some(delaying), ..settings }
            }
        };
        let outcome = check(&self.loaded, &settings, context);
        if let Some(failure) = outcome.failure {
            return Err(failure);
        }
        let same = |other: &Counterexample| {
            other.report.kind == like.report.kind && other.finding.span() == like.finding.span()
        };
        Ok(outcome.counterexamples.into_iter().find(same))
    }

    /// A run that violates the property, as short as it is found.
    fn shortest(&self, settings: &Settings, context: &mut CheckContext<'_>) -> Result<Option<Counterexample>, String> {
        let properties = vec![self.target.property.clone()];
        let settings = Settings { properties, ..settings.question_only() };
        let settings = fabius_engine::suited(&self.loaded, &settings);
        let outcome = check(&self.loaded, &settings, context);
        match outcome.failure {
            Some(failure) => Err(failure),
            None => Ok(outcome.counterexamples.into_iter().next()),
        }
    }

    /// Which other run is looked for.
    pub fn which(&self) -> Alternative {
        self.which
    }
}

/// A chain of writers being followed.
struct Chain<'a> {
    of: &'a Exploration,
    found: Vec<Write>,
    seen: HashSet<(String, NodeId)>,
}

impl Chain<'_> {
    /// Who wrote this before (or with the step to) a node, and what they read.
    fn follow(&mut self, name: &str, from: NodeId, depth: usize) {
        if DEPTH_MAX < depth || WRITES_MAX <= self.found.len() {
            return;
        }
        let Some((node, step)) = self.last_write(name, from) else { return };
        if !self.seen.insert((name.to_owned(), node)) {
            return;
        }
        let change = step.changes.iter().find(|change| change.name == name);
        let value = change.map_or_else(String::new, |change| change.new.clone());
        self.found.push(Write { depth, name: name.to_owned(), node, value });
        let is_received = step.messages.iter().any(|message| !message.sent && owns(&step, message.pid, name));
        let senders = if is_received { self.of.arrows(node) } else { Vec::new() };
        for arrow in &senders {
            self.sent(&arrow.channel, arrow.from, node, depth + 1);
        }
        if senders.is_empty() {
            self.reads_of(node, depth + 1);
        }
    }

    /// A message: the step that sent it, and what that read.
    fn sent(&mut self, channel: &str, from: NodeId, received: NodeId, depth: usize) {
        if WRITES_MAX <= self.found.len() || !self.seen.insert((channel.to_owned(), from)) {
            return;
        }
        if from != received
            && let Some(step) = self.of.step_to(from)
        {
            let message = step.messages.iter().find(|message| message.sent && message.channel == channel);
            let value = message.map_or_else(String::new, |message| format!("({})", message.fields));
            self.found.push(Write { depth, name: channel.to_owned(), node: from, value });
        }
        self.reads_of(from, depth + usize::from(from != received));
    }

    fn reads_of(&mut self, node: NodeId, depth: usize) {
        let (Some(parent), Some(step)) = (self.of.parent(node), self.of.tree.step(node)) else { return };
        for name in reads(&self.of.target().program, &self.of.situation(parent).state, step) {
            self.follow(&name, parent, depth);
        }
    }

    fn last_write(&self, name: &str, from: NodeId) -> Option<(NodeId, Step)> {
        let mut node = from;
        for _ in 0..LOOK_BACK_MAX {
            let step = self.of.step_to(node)?;
            if step.changes.iter().any(|change| change.name == name) {
                return Some((node, step));
            }
            node = self.of.parent(node)?;
        }
        None
    }
}

/// Whether the process that received a message is the one that a name belongs to, or could write a global.
fn owns(step: &Step, pid: u8, name: &str) -> bool {
    let receiver = match &step.partner {
        Some(partner) if partner.pid == pid => partner,
        _ => &step.actor,
    };
    name.split_once(':').is_none_or(|(owner, _)| owner == receiver.name)
}
