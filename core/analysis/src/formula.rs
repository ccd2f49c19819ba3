//! What there is to say about a formula: a sentence, the automaton of the runs that violate it, and where that automaton is along a
//! counterexample.

use fabius_base::Span;
use fabius_counterexample::{Counterexample, claim_along};
use fabius_program::ltl::sentence::sentence;
use fabius_program::ltl::text::FormulaText;
use fabius_program::{Location, LocationId, Process, ProcessId, Program, Property, PropertyKind};
use fabius_task::load::Loaded;
use fabius_task::words::counted;

/// This many states of an automaton are told.
const STATES_MAX: usize = 12;
/// Longer conditions are cut.
const CONDITION_MAX: usize = 120;
/// This many stretches of a run are told, in each of which the automaton stays in a state.
const STRETCHES_MAX: usize = 8;

/// A formula in words, and as an automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormulaDescription {
    /// What it says, if that is easier to read than the formula; without a full stop.
    pub sentence: Option<String>,
    /// The number of states of the automaton that accepts the runs that violate it; or why there is none.
    pub states: Result<usize, String>,
    /// The states and transitions of the automaton, a line for each state.
    pub automaton: Vec<String>,
    /// In which state the automaton is after it looked at each state of a counterexample, as numbers in `automaton`. The last ones
    /// may all be about the last state, if nothing moves any more.
    along: Vec<u32>,
    /// The number of steps of the counterexample, …
    steps: usize,
    /// … and the first step of its loop.
    cycle_start: Option<usize>,
}

/// The formulas of a model: the names of the properties, and where they stand.
pub fn formulas(loaded: &Loaded) -> Vec<(&str, Option<Span>)> {
    let properties = loaded.program.iter().flat_map(|program| &program.properties);
    let formulas = properties.filter(|property| matches!(property.kind, PropertyKind::Ltl(_)));
    formulas.map(|property| (property.name.as_str(), property.span)).collect()
}

/// The formula of a property as a person would write it.
pub fn text(loaded: &Loaded, property: &str) -> Option<String> {
    let program = loaded.program.as_deref()?;
    let property = program.properties.iter().find(|known| known.name == property)?;
    let PropertyKind::Ltl(formula) = &property.kind else { return None };
    Some(FormulaText::of(program, property).text(formula))
}

/// What there is to say about a formula, and about a counterexample of it if there is one.
pub fn describe(loaded: &Loaded, property: &str, example: Option<&Counterexample>) -> Option<FormulaDescription> {
    let program = loaded.program.as_deref()?;
    let property = program.properties.iter().find(|known| known.name == property)?;
    let PropertyKind::Ltl(formula) = &property.kind else { return None };
    let sentence = sentence(&FormulaText::of(program, property), formula);
    let (states, automaton) = match automaton(program, property, example) {
        Ok(lines) => (Ok(lines.0), lines.1),
        Err(why) => (Err(why), Vec::new()),
    };
    let steps = example.map_or(0, |example| example.trace.len());
    let along = example.map(claim_along).unwrap_or_default().into_iter().map(|LocationId(at)| at + 1).collect();
    let cycle_start = example.and_then(|example| example.trace.cycle_start);
    Some(FormulaDescription { sentence, states, automaton, along, steps, cycle_start })
}

/// The automaton that was watched beside a counterexample, else that of the formula.
fn automaton(
    program: &Program,
    property: &Property,
    example: Option<&Counterexample>,
) -> Result<(usize, Vec<String>), String> {
    if let Some((told, claim)) = example.and_then(|example| Some((&*example.told, example.watch.claim?))) {
        return Ok(lines(told, claim));
    }
    let (program, claim) = program.with_claim(&property.name).map_err(|why| why.to_string())?;
    Ok(lines(&program, claim))
}

fn lines(program: &Program, claim: ProcessId) -> (usize, Vec<String>) {
    let process = program.process(claim);
    let states = process.locations.len();
    let line = |(index, location): (usize, &Location)| line_of(program, process, index, location);
    let mut lines: Vec<String> = process.locations.iter().enumerate().take(STATES_MAX).map(line).collect();
    if STATES_MAX < states {
        lines.push(format!("… {}", counted((states - STATES_MAX) as u64, "more state")));
    }
    (states, lines)
}

fn line_of(program: &Program, claim: &Process, index: usize, location: &Location) -> String {
    let begin = if index == 0 { " (initial)" } else { "" };
    let kind = match (location.end, location.accept) {
        (true, _) => " (every continuation violates the formula)",
        (false, true) => " (accepting)",
        (false, false) => "",
    };
    let edge = |edge: &fabius_program::Edge| {
        let condition = &claim.statements[edge.statement.0 as usize].text;
        format!("→ {} if {}", edge.target.0 + 1, cut(condition))
    };
    let edges: Vec<String> = program.edges_of(location).map(|(_, known)| edge(known)).collect();
    let edges = if edges.is_empty() { String::new() } else { format!(": {}", edges.join("; ")) };
    format!("state {}{begin}{kind}{edges}", index + 1)
}

fn cut(condition: &str) -> String {
    if condition.chars().count() <= CONDITION_MAX {
        return condition.to_owned();
    }
    condition.chars().take(CONDITION_MAX - 1).chain(['…']).collect()
}

impl FormulaDescription {
    /// In which state the automaton is after it looked at the state after this number of steps of the counterexample.
    pub fn state_after(&self, step: usize) -> Option<u32> {
        if self.steps < step || (step == self.steps && self.steps + 1 < self.along.len()) {
            return None;
        }
        // The state behind a loop is that before it.
        let before_loop = || self.along.get(self.cycle_start?.checked_sub(1)?);
        self.along.get(step).or_else(before_loop).copied()
    }

    /// Where the automaton is along the counterexample, as a sentence.
    pub fn along_run(&self) -> Option<String> {
        let mut stretches: Vec<(u32, usize, usize)> = Vec::new();
        let positions = self.along.len().min(self.steps + 1);
        for (step, state) in self.along.iter().copied().enumerate().take(positions) {
            match stretches.last_mut() {
                Some((known, _, last)) if *known == state => *last = step,
                _ => stretches.push((state, step, step)),
            }
        }
        let told = stretches.iter().take(STRETCHES_MAX).map(|(state, first, last)| match last - first {
            0 => format!("state {state} after step {first}"),
            _ => format!("state {state} after steps {first} to {last}"),
        });
        let mut told: Vec<String> = told.collect();
        if STRETCHES_MAX < stretches.len() {
            told.push("and so on".to_owned());
        }
        let still: Vec<String> = self.along.iter().skip(positions).map(|state| state.to_string()).collect();
        if !still.is_empty() && still.len() <= STRETCHES_MAX {
            told.push(format!("then, as nothing moves any more, state {}", still.join(", ")));
        }
        (!told.is_empty()).then(|| format!("In the counterexample it is in {}.", told.join(", ")))
    }
}
