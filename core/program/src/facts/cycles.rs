//! Steps of which every cycle of a system takes one: *sticky* steps (Kurshan, Levin, Minea, Peled, Yenigün, *Static partial order
//! reduction*, TACAS 1998).
//!
//! One edge of each loop of each process would do, but that is more than is needed: a cycle brings back the contents of channels as well
//! as the locations of processes. So its steps lie on loops of their processes, and for each message that one of them puts into a
//! channel another one takes such a message out, and the other way round.
//!
//! ```text
//! left := the edges that are not sticky
//! repeat: take out of left
//!   what lies on no loop of its process within left
//!   what puts a message into a channel, if nobody in left takes such a message out; and the other way round
//!   what is a half of a rendezvous, if there is no other half in left
//! until nothing changes.  If left is empty, every cycle takes a sticky edge.
//! ```
//!
//! At first one edge of each loop is sticky. The edges of a process stop being so if left is empty nevertheless: those of the processes
//! first without which most would remain, so that where many clients talk to one server it is the server whose edges stay sticky.

use super::bits::{Bits, Channels};
use super::extract::Instance;
use super::step::{UseKind, differ};
use super::{EdgeId, Facts, Step};
use crate::{Action, LocationId, Pattern};
use fabius_base::components::{Components, components};

/// Where more edges than this send or receive, one edge of each loop is sticky: each is compared with all others.
const EXCHANGES_MAX: usize = 1_000;
/// So it is where the number of edges times that of processes is greater: what is left is computed for each process, and a check cannot be
/// stopped meanwhile.
const WORK_MAX: usize = 200_000;
/// Number of single edges that are tried, of the processes whose edges stay sticky.
const SINGLE_TRIALS_MAX: usize = 64;

/// A message that an edge surely puts into a channel, or takes out.
struct Exchange {
    sends: bool,
    /// It needs a partner at once.
    rendezvous: bool,
    /// The channel is one of these.
    channels: Channels,
    fields: Vec<Option<i32>>,
    /// The edge does nothing else with channels.
    alone: bool,
}

/// The edges of the processes of a system, numbered through.
struct System<'f> {
    facts: &'f Facts,
    instances: &'f [&'f Instance],
    /// The number of the first edge of each process, and behind it that of all.
    first: Vec<usize>,
    /// For each edge that puts in or takes out a message for sure: those that may do the opposite.
    opposites: Vec<(usize, Bits)>,
}

impl Facts {
    /// For each process and each edge of its type, whether it is sticky: every cycle on which exactly these processes live, and every
    /// cycle on which processes are created, has a step of such an edge.
    pub fn sticky(&self, instances: &[&Instance]) -> Vec<Vec<bool>> {
        let first = instances.iter().scan(0, |next, instance| {
            let at = *next;
            *next += instance.steps.len();
            Some(at)
        });
        let mut first: Vec<usize> = first.collect();
        first.push(instances.iter().map(|instance| instance.steps.len()).sum());
        let mut system = System { facts: self, instances, first, opposites: Vec::new() };
        let sticky = match system.find_opposites() {
            true => system.fewest_sticky(),
            false => system.closing(),
        };
        system.first.windows(2).map(|of| (of[0]..of[1]).map(|edge| sticky.contains(edge)).collect()).collect()
    }

    /// What an edge surely puts into a channel or takes out.
    fn exchange(&self, instance: &Instance, edge: usize) -> Option<Exchange> {
        let process = instance.key.process;
        let edge = EdgeId(self.shapes[process.0 as usize].first_edge + edge as u32);
        let action = &self.program().statement(process, edge).action;
        let (first, alone) = match action {
            Action::Merged(actions) => (actions.first()?, false),
            action => (action, true),
        };
        let context = self.context(&instance.key);
        let (target, sends, fields) = match first {
            Action::Send(send) => {
                let target = context.target(&send.channel);
                let fields = if send.sorted { Vec::new() } else { context.sent(&target, &send.fields) };
                (target, true, fields)
            }
            Action::Receive(receive) if !receive.keep => {
                let constant = |field: &Pattern| match field {
                    Pattern::Match(e) => context.constant(e, 0),
                    _ => None,
                };
                (context.target(&receive.channel), false, receive.fields.iter().map(constant).collect())
            }
            _ => return None,
        };
        let is_known = target.buffered != target.rendezvous && !target.channels.is_empty();
        is_known.then_some(Exchange { sends, rendezvous: target.rendezvous, channels: target.channels, fields, alone })
    }
}

impl Exchange {
    /// Whether a step may do the opposite.
    fn may_be_undone(&self, step: &Step, other: Option<&Exchange>) -> bool {
        if let Some(other) = other.filter(|other| other.alone) {
            return self.sends != other.sends
                && self.rendezvous == other.rendezvous
                && self.channels.meets(other.channels)
                && !differ(&self.fields, &other.fields);
        }
        if self.rendezvous {
            return self.channels.meets(if self.sends { step.accepts } else { step.offers });
        }
        step.uses.iter().filter(|used| used.channels.meets(self.channels)).any(|used| match &used.kind {
            UseKind::Append(fields) => !self.sends && !differ(&self.fields, fields),
            UseKind::Insert => !self.sends,
            UseKind::Take { fields, .. } => self.sends && !differ(&self.fields, fields),
            UseKind::Churn => true,
            UseKind::Peek { .. } | UseKind::Look => false,
        })
    }
}

impl System<'_> {
    /// The edges of a process with their numbers.
    fn edges(&self, process: usize) -> impl Iterator<Item = (usize, usize)> {
        (self.first[process]..self.first[process + 1]).enumerate()
    }

    fn all(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        (0..self.instances.len()).flat_map(|process| self.edges(process).map(move |(edge, at)| (process, edge, at)))
    }

    /// Finds what undoes what each edge does to channels; false if there are too many edges, or none that sends or receives.
    fn find_opposites(&mut self) -> bool {
        if WORK_MAX < self.all().count().saturating_mul(self.instances.len()) {
            return false;
        }
        let exchanges: Vec<Option<Exchange>> =
            self.all().map(|(process, edge, _)| self.facts.exchange(self.instances[process], edge)).collect();
        let count = exchanges.iter().flatten().count();
        if count == 0 || EXCHANGES_MAX < count {
            return false;
        }
        let uses_channels = |step: &Step| !step.uses.is_empty() || !step.is_alone();
        let all: Vec<(usize, usize, usize)> =
            self.all().filter(|(process, edge, _)| uses_channels(&self.instances[*process].steps[*edge])).collect();
        let mut opposites = Vec::with_capacity(count);
        for (process, _, at) in self.all() {
            let Some(exchange) = &exchanges[at] else { continue };
            let mut those = Bits::default();
            for (other, edge, number) in &all {
                let step = &self.instances[*other].steps[*edge];
                if (!exchange.rendezvous || *other != process)
                    && exchange.may_be_undone(step, exchanges[*number].as_ref())
                {
                    those.insert(*number);
                }
            }
            opposites.push((at, those));
        }
        self.opposites = opposites;
        true
    }

    /// Edges that are sticky whatever others do: whoever creates processes again and again.
    fn creating(&self) -> Bits {
        let mut creating = Bits::default();
        for (process, edge, at) in self.all() {
            let instance = self.instances[process];
            let is_on_loop = self.facts.shapes[instance.key.process.0 as usize].looping[edge];
            if is_on_loop && !instance.steps[edge].spawns.is_empty() {
                creating.insert(at);
            }
        }
        creating
    }

    /// One edge of each loop of a process.
    fn closing_of(&self, process: usize) -> Bits {
        let kind = self.instances[process].key.process;
        let mut closing = Bits::default();
        self.edges(process)
            .filter(|(edge, _)| self.facts.closes_loop(kind, *edge))
            .for_each(|(_, at)| closing.insert(at));
        closing
    }

    /// One edge of each loop of each process.
    fn closing(&self) -> Bits {
        (0..self.instances.len()).fold(Bits::default(), |mut all, process| {
            all.extend(&self.closing_of(process));
            all
        })
    }

    fn fewest_sticky(&self) -> Bits {
        let creating = self.creating();
        let with = |those: &mut dyn Iterator<Item = &Bits>| {
            let mut sticky = creating.clone();
            those.for_each(|more| sticky.extend(more));
            sticky
        };
        let mut parts: Vec<Bits> = (0..self.instances.len()).map(|process| self.closing_of(process)).collect();
        parts.retain(|part| !part.is_empty());
        parts.sort_by_cached_key(|part| {
            std::cmp::Reverse(self.left_by(&with(&mut std::iter::once(part))).iter().count())
        });
        let drop_each = |parts: &mut Vec<Bits>, most: usize| {
            let mut at = 0;
            for _ in 0..parts.len().min(most) {
                let others =
                    with(&mut parts.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, part)| part));
                if self.left_by(&others).is_empty() {
                    parts.remove(at);
                } else {
                    at += 1;
                }
            }
        };
        drop_each(&mut parts, usize::MAX);
        let one = |edge: usize| {
            let mut bits = Bits::default();
            bits.insert(edge);
            bits
        };
        let mut single: Vec<Bits> = parts.iter().flat_map(|part| part.iter().map(one)).collect();
        drop_each(&mut single, SINGLE_TRIALS_MAX);
        with(&mut single.iter())
    }

    /// The edges that a cycle may take that takes none of these.
    fn left_by(&self, sticky: &Bits) -> Bits {
        let mut left = Bits::default();
        self.all().filter(|(.., at)| !sticky.contains(*at)).for_each(|(.., at)| left.insert(at));
        loop {
            let before = left.clone();
            for process in 0..self.instances.len() {
                self.keep_loops(process, &mut left);
            }
            for (edge, opposites) in &self.opposites {
                if left.contains(*edge) && !opposites.meets(&left) {
                    left.remove(*edge);
                }
            }
            if left == before {
                return left;
            }
        }
    }

    /// Takes out the edges of a process that lie on no loop of what is left.
    fn keep_loops(&self, process: usize, left: &mut Bits) {
        let kind = self.instances[process].key.process;
        let shape = &self.facts.shapes[kind.0 as usize];
        let program = self.facts.program();
        let locations = &program.process(kind).locations;
        let base = self.first[process];
        let index = |edge: EdgeId| base + (edge.0 - shape.first_edge) as usize;
        let is_place = |location: LocationId| (location.0 as usize) < locations.len();
        let found: Components = {
            let left = &*left;
            components(locations.len(), |at| {
                let edges = program.edges_of(&locations[at as usize]);
                edges
                    .filter(move |(edge, taken)| left.contains(index(*edge)) && is_place(taken.target))
                    .map(|(_, taken)| taken.target.0)
            })
        };
        for (edge, taken) in locations.iter().flat_map(|location| program.edges_of(location)) {
            let is_kept = is_place(taken.target) && found.joins(taken.source.0, taken.target.0);
            if !is_kept {
                left.remove(index(edge));
            }
        }
    }
}
