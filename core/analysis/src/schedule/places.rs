//! Where processes are, as waits speak of it: places of the text, and sentences about them.

use super::values::{Cells, Readable, Terms};
use crate::marks::asserts;
use fabius_base::{Cancel, SourceMap, Span};
use fabius_language::Language;
use fabius_machine::Machine;
use fabius_program::{Action, LocationId, Process, ProcessId, Program, Slot};
use fabius_search::restrict::{Arrangements, Graph, Numbering, PROCESSES_MAX, Site, Vocabulary, Wait};
use fabius_task::load::Loaded;
use fabius_task::report::schedule::{PlaceReport, StretchReport, WaitReport, WhileReport};
use fabius_task::waits::{During, ProcessPlaces, Wait as Written};
use fabius_witness::State;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// A statement is shown up to this many characters.
const TEXT_MAX: usize = 40;
/// Whoever may cancel is asked whenever this many states were looked at.
const STATES_PER_LOOK: usize = 4_096;
/// The number of no place.
const NOWHERE: u16 = u16::MAX;

/// Which processes a wait treats alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum By {
    /// Those of one type.
    #[default]
    Type,
    /// None: each process for itself.
    Process,
}

impl By {
    /// The word for it in reports and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Process => "process",
        }
    }
}

/// A place in the text of a type of process: all locations that a person sees as one.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: u32,
    /// What stands there.
    pub(super) statement: String,
    /// Whether this is where the process has nothing more to do but to end.
    is_end: bool,
}

/// Where the processes are in each state of a graph: type and location.
pub(super) struct Whereabouts {
    /// Of each state, the number of the configuration: states that agree in where processes are have the same one.
    of: Vec<u32>,
    /// Where the processes of each configuration end.
    ends: Vec<u32>,
    at: Vec<(u16, u16)>,
    /// All types and locations.
    locations: BTreeSet<(u16, u16)>,
    /// Of each type, the most processes that were there at once.
    instances: Vec<usize>,
}

impl Whereabouts {
    /// Looks at all states; `None` if there are too many processes, types or locations, or somebody cancels.
    pub(super) fn new(graph: &Graph, machine: &Machine, cancel: &Cancel) -> Option<Self> {
        let instances = vec![0; machine.program().processes.len()];
        let (of, ends, at) = (Vec::with_capacity(graph.len()), Vec::new(), Vec::new());
        let mut found = Self { of, ends, at, locations: BTreeSet::new(), instances };
        let (mut numbering, mut words, mut where_each) = (Numbering::default(), Vec::new(), Vec::new());
        for state in 0..graph.len() as u32 {
            if (state as usize).is_multiple_of(STATES_PER_LOOK) && cancel.requested().is_some() {
                return None;
            }
            graph.recall(state, &mut words);
            let view = machine.view(&words)?;
            if PROCESSES_MAX < view.process_count() {
                return None;
            }
            where_each.clear();
            for pid in 0..view.process_count() {
                let (of, location) = (view.process_of(pid)?, view.location_of(pid)?);
                let (of, location) = (u16::try_from(of.0).ok()?, u16::try_from(location.0).ok()?);
                where_each.push(u32::from(of) << 16 | u32::from(location));
            }
            let (number, is_new) = numbering.number(&where_each);
            if is_new {
                found.add(where_each.iter().map(|&at| ((at >> 16) as u16, at as u16)));
            }
            found.of.push(number);
        }
        Some(found)
    }

    /// Adds a configuration.
    fn add(&mut self, at: impl Iterator<Item = (u16, u16)>) {
        let start = self.at.len();
        self.at.extend(at);
        self.ends.push(self.at.len() as u32);
        let mut count = vec![0; self.instances.len()];
        for at in &self.at[start..] {
            self.locations.insert(*at);
            count[usize::from(at.0)] += 1;
        }
        self.instances.iter_mut().zip(count).for_each(|(most, count)| *most = (*most).max(count));
    }

    /// Whether there are two processes of one type at once.
    pub(super) fn has_several_of_a_type(&self) -> bool {
        self.instances.iter().any(|many| 1 < *many)
    }

    /// The types of which there are processes.
    pub(super) fn types(&self) -> Vec<u16> {
        let types: BTreeSet<u16> = self.locations.iter().map(|(of, _)| *of).collect();
        types.into_iter().collect()
    }

    /// Type and location of the processes of a state.
    pub(super) fn of(&self, state: u32) -> &[(u16, u16)] {
        let configuration = self.of[state as usize] as usize;
        let start = configuration.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.at[start as usize..self.ends[configuration] as usize]
    }
}

/// The places of all types of processes.
#[derive(Clone, Debug)]
pub(super) struct Places {
    by: By,
    names: Vec<String>,
    /// Of each type, in the order of the text: those where a process can be when another one moves.
    places: Vec<Vec<Place>>,
    /// Of each type and location, the number of its place.
    numbers: Vec<Vec<u16>>,
    /// Of each type, the most processes that were there at once.
    instances: Vec<usize>,
    main_file: String,
    /// In which waits are written.
    language: &'static dyn Language,
    /// What waits can speak of beside places.
    cells: Cells,
}

impl Places {
    /// The places of a program where processes were seen; `None` if there are too many.
    pub(super) fn new(program: &Program, loaded: &Loaded, seen: &Whereabouts, by: By) -> Option<Self> {
        let mut places = Self {
            by,
            names: program.processes.iter().map(|process| shown(&process.name)).collect(),
            places: Vec::new(),
            numbers: Vec::new(),
            instances: seen.instances.clone(),
            main_file: loaded.name.clone(),
            language: loaded.language(),
            cells: Cells::default(),
        };
        for (of, process) in program.processes.iter().enumerate() {
            let is_seen = |location: usize| seen.locations.contains(&(of as u16, location as u16));
            let (of_type, numbers) = places_of(program, process, &loaded.map, &is_seen)?;
            places.places.push(of_type);
            places.numbers.push(numbers);
        }
        Some(places)
    }

    /// The same, with variables and channels whose values waits can speak of, too.
    pub(super) fn with_cells(self, cells: Cells) -> Self {
        Self { cells, ..self }
    }

    /// Where the processes of each state are, and which values were seen there.
    pub(super) fn vocabulary(&self, seen: &Whereabouts, graph: &Graph, machine: &Machine) -> Vocabulary {
        let (mut numbering, mut arrangements) = (Numbering::default(), Arrangements::default());
        let (mut words, mut values, first) = (Vec::new(), Vec::new(), self.first_value());
        for state in 0..graph.len() as u32 {
            values.clear();
            if !self.cells.is_empty() {
                graph.recall(state, &mut words);
                machine.view(&words).iter().for_each(|view| self.cells.sites(view, first, &mut values));
            }
            words.clear();
            words.push(seen.of[state as usize]);
            words.extend(values.iter().map(|site| u32::from(site.kind) << 16 | u32::from(site.place)));
            arrangements.add_state(&mut numbering, &words, |sites| {
                let processes = seen.of(state).iter().enumerate();
                sites.extend(processes.map(|(pid, &(of, location))| self.site(of, location, pid)));
                sites.extend_from_slice(&values);
            });
        }
        Vocabulary::new(self.sizes(), arrangements).with_values(self.cells.values())
    }

    /// The kind of the first variable or channel.
    fn first_value(&self) -> u16 {
        self.sizes().len() as u16
    }

    fn terms<'p>(&self, program: &'p Program) -> Terms<'p> {
        Terms { program, language: self.language }
    }

    /// The number of the variable or channel that a wait speaks of.
    fn cell_of(&self, wait: &Wait) -> Option<usize> {
        wait.other.checked_sub(self.first_value()).map(usize::from)
    }

    pub(super) fn site(&self, of: u16, location: u16, pid: usize) -> Site {
        let place = self.numbers[usize::from(of)].get(usize::from(location)).copied().unwrap_or(NOWHERE);
        Site { kind: self.kind(usize::from(of), pid), place }
    }

    /// Adds where the processes of a state are.
    pub(super) fn sites(&self, machine: &Machine, state: &[u32], sites: &mut Vec<Site>) {
        let Some(view) = machine.view(state) else { return };
        for pid in 0..view.process_count() {
            let (Some(of), Some(location)) = (view.process_of(pid), view.location_of(pid)) else { continue };
            sites.push(self.site(of.0 as u16, location.0 as u16, pid));
        }
        self.add_values(&view, sites);
    }

    /// Adds the values of a state.
    fn add_values(&self, state: &dyn Readable, sites: &mut Vec<Site>) {
        if !self.cells.is_empty() {
            self.cells.sites(state, self.first_value(), sites);
        }
    }

    /// Where the processes are in a state of the reference interpreter.
    pub(super) fn sites_of(&self, state: &State) -> Vec<Site> {
        let processes = state.processes.iter().enumerate();
        let mut sites = processes
            .map(|(pid, process)| self.site(process.process.0 as u16, process.location.0 as u16, pid))
            .collect();
        self.add_values(state, &mut sites);
        sites
    }

    fn kind(&self, of: usize, pid: usize) -> u16 {
        match self.by {
            By::Type => of as u16,
            By::Process => (pid * self.names.len() + of) as u16,
        }
    }

    fn type_of(&self, kind: u16) -> usize {
        usize::from(kind) % self.names.len().max(1)
    }

    fn sizes(&self) -> Vec<u16> {
        let of_types = self.places.iter().map(|places| places.len() as u16);
        let times = match self.by {
            By::Type => 1,
            By::Process => PROCESSES_MAX,
        };
        of_types.cycle().take(self.names.len() * times).collect()
    }

    fn place(&self, kind: u16, place: u16) -> Option<&Place> {
        self.places[self.type_of(kind)].get(usize::from(place))
    }

    /// A place, as data.
    pub(super) fn report(&self, site: Site) -> Option<PlaceReport> {
        let place = self.place(site.kind, site.place)?;
        let (file, line, statement) = (place.file.clone(), place.line, place.statement.clone());
        Some(PlaceReport { process: self.who(site.kind), file, line, statement })
    }

    /// A process of a kind: `Producer`, or with its number.
    pub(super) fn who(&self, kind: u16) -> String {
        let of = self.type_of(kind);
        match self.by {
            By::Process if 1 < self.instances[of] => {
                format!("{}[{}]", self.names[of], usize::from(kind) / self.names.len())
            }
            _ => self.names[of].clone(),
        }
    }

    /// A place of a type, for people: *P at line 7*.
    pub(super) fn process_at(&self, of: u16, location: u16) -> Option<(String, String)> {
        let site = self.site(of, location, 0);
        Some((self.names[usize::from(of)].clone(), self.at(site)?))
    }

    /// A process of a kind at a place, for people: *P at line 7*.
    pub(super) fn named(&self, site: Site) -> Option<String> {
        Some(format!("{} {}", self.who(site.kind), self.at(site)?))
    }

    /// The kinds of processes that only check: they assert something, and do nothing that others see.
    pub(super) fn checkers(&self, program: &Program) -> Vec<u16> {
        let checks: Vec<bool> = program.processes.iter().map(|process| only_checks(program, process)).collect();
        let kinds = 0..self.sizes().len() as u16;
        kinds.filter(|&kind| checks.get(self.type_of(kind)).is_some_and(|checks| *checks)).collect()
    }

    /// Whether a kind has one process at a time.
    pub(super) fn is_single(&self, kind: u16) -> bool {
        self.by == By::Process || self.instances[self.type_of(kind)] <= 1
    }

    /// *P* if there is one, else *a P*.
    pub(super) fn one_of(&self, kind: u16) -> String {
        match self.is_single(kind) {
            true => self.who(kind),
            false => with_article(&self.who(kind)),
        }
    }

    /// *P* if there is one, else *each P*.
    pub(super) fn each_of(&self, kind: u16) -> String {
        match self.is_single(kind) {
            true => self.who(kind),
            false => format!("each {}", self.who(kind)),
        }
    }

    /// Whether no process of a type was seen at a location while another one moved.
    pub(super) fn is_only_passed(&self, process: ProcessId, location: LocationId) -> bool {
        let number = self.numbers[process.0 as usize].get(location.0 as usize);
        number.is_none_or(|&number| number == NOWHERE)
    }

    /// The locations of a place.
    pub(super) fn process_places_at(&self, site: Site) -> ProcessPlaces {
        self.process_places(site.kind, site.place..=site.place, String::new())
    }

    /// A wait, as data and as a sentence that goes on after *holds if*.
    pub(super) fn wait(&self, program: &Program, wait: &Wait) -> Option<WaitReport> {
        let at = self.report(wait.at)?;
        if let Some(cell) = self.cell_of(wait) {
            let (value, condition) = self.cells.report(self.terms(program), cell, wait)?;
            let text = format!("{} {} waits while {condition}", self.one_of(wait.at.kind), self.at(wait.at)?);
            return Some(WaitReport { text, who: at.process.clone(), place: at, while_: WhileReport::Value(value) });
        }
        let (first, last) = (self.place(wait.other, wait.first)?, self.place(wait.other, wait.last)?);
        let other = self.who(wait.other);
        let who = self.one_of(wait.at.kind);
        let whom = match (wait.other == wait.at.kind, self.is_single(wait.other)) {
            (true, _) => format!("another {other}"),
            (false, true) => other.clone(),
            (false, false) => with_article(&other),
        };
        let text = format!("{who} {} waits while {whom} is {}", self.at(wait.at)?, self.stretch(wait)?);
        let stretch = StretchReport {
            who: other,
            another: wait.other == wait.at.kind,
            file: first.file.clone(),
            lines: [first.line, last.line],
            first: first.statement.clone(),
            last: last.statement.clone(),
        };
        Some(WaitReport { text, who: at.process.clone(), place: at, while_: WhileReport::Stretch(stretch) })
    }

    /// A wait as it is to be written into the text.
    pub(super) fn written(&self, program: &Program, wait: &Wait) -> Option<Written> {
        let at = self.process_places_at(wait.at);
        let during = match self.cell_of(wait) {
            Some(cell) => self.cells.written(self.terms(program), cell, wait)?,
            None => During::Places(self.stretch_of(wait)?),
        };
        Some(Written { at, during })
    }

    /// What a wait says of a variable or channel, in words that go on after *while*.
    pub(super) fn condition(&self, program: &Program, wait: &Wait) -> Option<String> {
        Some(self.cells.report(self.terms(program), self.cell_of(wait)?, wait)?.1)
    }

    /// The locations of the stretch that a wait speaks of, if it speaks of one.
    pub(super) fn stretch_of(&self, wait: &Wait) -> Option<ProcessPlaces> {
        if self.cell_of(wait).is_some() {
            return None;
        }
        let (first, last) = (self.place(wait.other, wait.first)?, self.place(wait.other, wait.last)?);
        let name = match first.line == last.line {
            true => format!("at_{}", first.line),
            false => format!("in_{}_{}", first.line, last.line),
        };
        Some(self.process_places(wait.other, wait.first..=wait.last, name))
    }

    fn process_places(&self, kind: u16, places: RangeInclusive<u16>, name: String) -> ProcessPlaces {
        let of = self.type_of(kind);
        let numbers = self.numbers[of].iter().enumerate();
        let locations =
            numbers.filter(|(_, place)| places.contains(place)).map(|(location, _)| LocationId(location as u32));
        let pid = (self.by == By::Process && 1 < self.instances[of]).then(|| usize::from(kind) / self.names.len());
        let pid = pid.and_then(|pid| u8::try_from(pid).ok());
        ProcessPlaces { process: ProcessId(of as u32), pid, locations: locations.collect(), name }
    }

    /// *at line 6*, with what stands there if the line has other places of the type.
    pub(super) fn at(&self, site: Site) -> Option<String> {
        let places = &self.places[self.type_of(site.kind)];
        let place = places.get(usize::from(site.place))?;
        let alone = places.iter().filter(|other| (other.line, &other.file) == (place.line, &place.file)).count() == 1;
        let line = self.line(place);
        Some(match place.is_end {
            true => format!("at its end ({line})"),
            false if alone => format!("at {line}"),
            false => format!("at {line} (at `{}`)", place.statement),
        })
    }

    /// *in lines 7–9*, or from which statement to which where whole lines do not say it.
    pub(super) fn stretch(&self, wait: &Wait) -> Option<String> {
        let places = &self.places[self.type_of(wait.other)];
        let (first, last) = (places.get(usize::from(wait.first))?, places.get(usize::from(wait.last))?);
        if wait.first == wait.last {
            return self.at(Site { kind: wait.other, place: wait.first });
        }
        let within = |place: &Place| place.file == first.file && (first.line..=last.line).contains(&place.line);
        let stretch = usize::from(wait.first)..=usize::from(wait.last);
        let whole = places.iter().enumerate().all(|(number, place)| within(place) == stretch.contains(&number));
        Some(match () {
            () if whole && first.line == last.line => format!("in {}", self.line(first)),
            () if whole && first.file == self.main_file => format!("in lines {}–{}", first.line, last.line),
            () if whole => format!("in lines {}–{} of {}", first.line, last.line, first.file),
            () => {
                let shown = |place: &Place| match place.is_end {
                    true => format!("its end at {}", self.line(place)),
                    false => format!("`{}` at {}", place.statement, self.line(place)),
                };
                format!("anywhere from {} to {}", shown(first), shown(last))
            }
        })
    }

    fn line(&self, place: &Place) -> String {
        match place.file == self.main_file {
            true => format!("line {}", place.line),
            false => format!("line {} of {}", place.line, place.file),
        }
    }
}

/// Whether a process asserts something, but changes no shared variable, sends and receives nothing, and creates no process.
fn only_checks(program: &Program, process: &Process) -> bool {
    let statements = || process.statements.iter().map(|statement| &statement.action);
    let creates = |action: &Action| {
        (0..program.processes.len() as u32).any(|created| fabius_program::facts::creates(action, ProcessId(created)))
    };
    statements().any(asserts) && statements().all(|action| changes_nothing_shared(action) && !creates(action))
}

fn changes_nothing_shared(action: &Action) -> bool {
    match action {
        Action::Skip | Action::Else | Action::Guard(_) | Action::Assert(_) | Action::Print(_) | Action::End => true,
        Action::Assign(place, _) => matches!(place.slot, Slot::Local(_)),
        Action::Merged(parts) => parts.iter().all(changes_nothing_shared),
        Action::Block(block) => {
            block.nodes.iter().flat_map(|node| &node.options).all(|option| changes_nothing_shared(&option.action))
        }
        Action::Send(_) | Action::Receive(_) | Action::SetPriority(..) => false,
    }
}

/// The places of a type in the order of the text, and the number of the place of each location.
fn places_of(
    program: &Program,
    process: &Process,
    map: &SourceMap,
    is_seen: &dyn Fn(usize) -> bool,
) -> Option<(Vec<Place>, Vec<u16>)> {
    let key = |index: usize| {
        let span = span_of(program, process, map, index);
        let (call, body) = (call_of(map, span), map.user_span(span));
        ((call.file, call.start), (body.file, body.start, body.end))
    };
    let mut ordered: Vec<usize> = (0..process.locations.len()).filter(|&index| is_seen(index)).collect();
    ordered.sort_by_key(|&index| (key(index), process.locations[index].number));
    let mut places: Vec<Place> = Vec::new();
    let mut numbers = vec![NOWHERE; process.locations.len()];
    let mut before = None;
    for index in ordered {
        if before != Some(key(index)) {
            before = Some(key(index));
            let at = map.position(call_of(map, span_of(program, process, map, index)));
            let (statement, is_end) = statement_at(program, process, index);
            places.push(Place { file: at.file.to_string(), line: at.line, statement, is_end });
        }
        numbers[index] = u16::try_from(places.len() - 1).ok().filter(|&number| number != NOWHERE)?;
    }
    Some((places, numbers))
}

/// The place in the text of the process itself: of a statement in an `inline`, that of the call.
pub(super) fn call_of(map: &SourceMap, span: Span) -> Span {
    let mut call = span;
    while let Some(expansion) = map.expansion(call.via) {
        call = expansion.call;
    }
    call
}

/// What a person sees a process stand at: the statement that it does next, or the whole choice if they are in several lines.
fn span_of(program: &Program, process: &Process, map: &SourceMap, location: usize) -> Span {
    let location = &process.locations[location];
    let spans: Vec<Span> = program.edges_of(location).map(|(id, _)| program.span_of(id)).collect();
    let line = |span: &Span| {
        let shown = map.position(call_of(map, *span));
        (shown.file, shown.line)
    };
    match spans.as_slice() {
        [first, rest @ ..] if rest.iter().all(|other| line(other) == line(first)) => *first,
        _ => location.span,
    }
}

/// What a process does next at a location, and whether that is to end.
fn statement_at(program: &Program, process: &Process, location: usize) -> (String, bool) {
    let edges = program.edges_of(&process.locations[location]);
    let mut texts: Vec<&str> = Vec::new();
    let mut ends = true;
    for (_, edge) in edges {
        let statement = &process.statements[edge.statement.0 as usize];
        ends &= statement.action == Action::End;
        if !texts.contains(&statement.text.as_str()) {
            texts.push(&statement.text);
        }
    }
    let text = texts.join(" / ");
    (shortened(&text), ends)
}

/// A text of at most [`TEXT_MAX`] characters, cut after a whole statement if there is one.
pub(super) fn shortened(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(TEXT_MAX) else { return text.to_owned() };
    let statements = text[..end].rfind("; ").map_or(end, |last| last + 2);
    format!("{}…", &text[..statements])
}

/// The name of a type as people say it.
pub(super) fn shown(name: &str) -> String {
    if name == ":init:" { "init".to_owned() } else { name.to_owned() }
}

fn with_article(name: &str) -> String {
    // A single letter is said by its name.
    let vowels = if name.chars().count() == 1 { "AEFHILMNORSXaefhilmnorsx" } else { "AEIOaeio" };
    let vowel = name.chars().next().is_some_and(|first| vowels.contains(first));
    format!("{} {name}", if vowel { "an" } else { "a" })
}
