//! Where the formula of a property holds along a run, or where its claim is.

use crate::counterexample::Counterexample;
use crate::target::ExplorationTarget;
use fabius_base::SourceMap;
use fabius_program::ltl::text::FormulaText;
use fabius_program::ltl::truth::{Ribbon, Row, Truth, literals, ribbon};
use fabius_program::{Action, Expr, Formula, Location, LocationId, Process, Program, Property, PropertyKind, Watch};
use fabius_task::condition::relocate;
use fabius_task::load::Loaded;
use fabius_witness::{Claim, Mover, State, Trace, look_along, value_of};

/// This many places of a claim are told, …
const PLACES_MAX: usize = 6;
/// … and this many of its conditions.
const CONDITIONS_MAX: usize = 6;

/// What is noted of each state of a run, to tell where the formula of a property holds in it, or where its claim is. A formula sees each
/// state before a step; of a run with a loop, the state behind the loop is that before it. A claim is where its look at the state led it:
/// that is the same in each round of a loop, whether the loop begins before that look or after it.
struct TruthAlong<'a> {
    walked: &'a Program,
    about: About<'a>,
    /// What is evaluated in each state, …
    exprs: Vec<Expr>,
    /// … and its values.
    values: Vec<Vec<Truth>>,
    /// At how many positions the claim has looked.
    looked: usize,
    /// Where the claim is in the loop.
    claims_loop: Vec<LocationId>,
}

/// What the rows are about.
enum About<'a> {
    Formula(&'a Program, &'a Property, &'a Formula),
    Claim {
        claim: &'a Process,
        map: &'a SourceMap,
        conditions: Vec<&'a str>,
        /// At each position, the places at which the claim is: one, or those of a loop in which nothing else moves.
        places: Vec<Vec<LocationId>>,
    },
}

impl<'a> TruthAlong<'a> {
    /// For runs of `walked` beside `watch`. `None` if the property has neither formula nor claim, or sees more of a step than its state shows.
    fn of(loaded: &'a Loaded, walked: &'a Program, watch: Watch, property: &str) -> Option<Self> {
        let program = loaded.program.as_deref()?;
        let property = program.properties.iter().find(|known| known.name == property)?;
        let (about, exprs) = match &property.kind {
            PropertyKind::Ltl(formula) => {
                let exprs = literals(formula).into_iter();
                let exprs = exprs.map(|mut expr| relocate(program, walked, &mut expr).map(|()| expr));
                let exprs = exprs.collect::<Result<Vec<_>, _>>().ok()?;
                (About::Formula(program, property, formula), Some(exprs).filter(|all| all.iter().all(is_of_state))?)
            }
            PropertyKind::Never(_) => {
                let claim = walked.process(watch.claim?);
                let (conditions, exprs) = conditions(claim);
                (About::Claim { claim, map: &loaded.map, conditions, places: Vec::new() }, exprs)
            }
            _ => return None,
        };
        let values = vec![Vec::new(); exprs.len()];
        Some(Self { walked, about, exprs, values, looked: 0, claims_loop: Vec::new() })
    }

    /// Notes the state after the next move, first the initial one.
    fn see(&mut self, state: &State, mover: Mover, in_loop: bool) {
        match mover {
            Mover::System => self.look(state),
            Mover::Claim => {
                self.looked += 1;
                self.claim_is_at(state.claim.iter().map(|claim| claim.location).collect());
            }
        }
        let place = state.claim.as_ref().map(|claim| claim.location);
        self.claims_loop.extend(place.filter(|place| in_loop && !self.claims_loop.contains(place)));
    }

    /// Notes the state after the next step of the system, first the initial one.
    fn look(&mut self, state: &State) {
        for (values, expr) in self.values.iter_mut().zip(&self.exprs) {
            values.push(value_of(self.walked, state, expr).ok().map(|value| value != 0));
        }
        if let About::Claim { places, .. } = &mut self.about {
            places.push(state.claim.iter().map(|claim| claim.location).collect());
        }
    }

    /// The claim is at these places at the last state that was noted.
    fn claim_is_at(&mut self, at: Vec<LocationId>) {
        if let About::Claim { places, .. } = &mut self.about
            && let Some(last) = places.last_mut()
        {
            *last = at;
        }
    }

    /// The rows of a run with this number of steps; of one with a loop, the number of the first step of the loop.
    fn along(mut self, steps: usize, cycle_start: Option<usize>) -> Option<Ribbon> {
        let (positions, back_to) = match cycle_start {
            Some(start) if start <= steps => (steps, Some(start.checked_sub(1)?)),
            // Nothing moves any more.
            Some(_) => {
                let places = std::mem::take(&mut self.claims_loop);
                self.claim_is_at(places);
                (steps + 1, Some(steps))
            }
            // Where the claim goes from the last state is not known before it has looked at it.
            None if matches!(self.about, About::Claim { .. }) => ((steps + 1).min(self.looked), None),
            None => (steps + 1, None),
        };
        self.ribbon(positions, back_to)
    }

    /// The rows, if there is a position: of the beginning of a run, or of one that goes back to the position `back_to` after the last one.
    fn ribbon(mut self, positions: usize, back_to: Option<usize>) -> Option<Ribbon> {
        if self.values.iter().any(|along| along.len() < positions) {
            return None;
        }
        self.values.iter_mut().for_each(|along| along.truncate(positions));
        match self.about {
            About::Formula(program, property, formula) => {
                ribbon(&FormulaText::of(program, property), formula, &self.values, back_to)
            }
            About::Claim { claim, map, conditions, places } => {
                let places = places.get(..positions).filter(|places| !places.is_empty())?;
                let mut rows = rows_of_places(claim, map, places);
                rows.extend(conditions.into_iter().zip(self.values).map(|(condition, values)| Row {
                    text: condition.to_owned(),
                    depth: 1,
                    is_proposition: true,
                    values,
                }));
                Some(Ribbon { is_claim: true, sentence: None, rows, positions, back_to, decides: None })
            }
        }
    }
}

/// The conditions of a claim that differ from state to state: texts and expressions.
fn conditions(claim: &Process) -> (Vec<&str>, Vec<Expr>) {
    let mut found: (Vec<&str>, Vec<Expr>) = (Vec::new(), Vec::new());
    for statement in &claim.statements {
        if let Action::Guard(expr) = &statement.action
            && expr.constant().is_none()
            && is_of_state(expr)
            && !found.1.contains(expr)
            && found.0.len() < CONDITIONS_MAX
        {
            found.0.push(&statement.text);
            found.1.push(expr.clone());
        }
    }
    found
}

/// A row for each place at which a claim is in some state, in their order along the run.
fn rows_of_places(claim: &Process, map: &SourceMap, places: &[Vec<LocationId>]) -> Vec<Row> {
    let mut visited: Vec<LocationId> = Vec::new();
    for place in places.iter().flatten() {
        if !visited.contains(place) && visited.len() < PLACES_MAX {
            visited.push(*place);
        }
    }
    let row = |place: LocationId| Row {
        text: format!("claim at {}", place_name(&claim.locations[place.0 as usize], map)),
        depth: 0,
        is_proposition: false,
        values: places
            .iter()
            .map(|at| if at.contains(&place) { (at.len() == 1).then_some(true) } else { Some(false) })
            .collect(),
    };
    visited.into_iter().map(row).collect()
}

/// A place of a claim: its label, else its line.
fn place_name(location: &Location, map: &SourceMap) -> String {
    let name = match location.labels.first() {
        Some(label) => label.clone(),
        None if location.edges.is_empty() => "its end".to_owned(),
        None => format!("line {}", map.position(map.user_span(location.span)).line),
    };
    if location.accept { format!("{name} (accepting)") } else { name }
}

/// Whether the value of an expression depends on nothing but the state: not on who moved last, or on what could move.
fn is_of_state(expr: &Expr) -> bool {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        if matches!(expr, Expr::Last | Expr::Timeout | Expr::NonProgress | Expr::Enabled(_)) {
            return false;
        }
        open.extend(expr.operands());
    }
    true
}

/// The formula of a property and its parts along a run that violates it, or its claim, if it has one and the run is not very long.
pub(crate) fn ribbon_of(loaded: &Loaded, walked: &Program, watch: Watch, trace: &Trace, name: &str) -> Option<Ribbon> {
    let mut truth = TruthAlong::of(loaded, walked, watch, name)?;
    let loop_start = match trace.claim {
        Claim::Cycle { start, .. } => start,
        _ => usize::MAX,
    };
    let mut moves = 0;
    look_along(walked, watch, trace, &mut |state, mover| {
        truth.see(state, mover, loop_start < moves);
        moves += 1;
    });
    let ribbon = truth.along(trace.len(), trace.cycle_start)?;
    // A run that is shown violates the formula; where the rows say otherwise, nothing is told.
    (ribbon.is_claim || ribbon.rows.first()?.values.first() == Some(&Some(false))).then_some(ribbon)
}

/// The formula of the property of a target and its parts along a run that is walked, or where its claim is, if it has one. `states` are
/// the states from the initial one on, each with who moved to it; `loop_start` is the index of the one to which the run goes back
/// from the last one, if it does. Of the beginning of a run, a part is undetermined where continuations differ.
pub fn ribbon_along(
    loaded: &Loaded,
    target: &ExplorationTarget,
    states: impl IntoIterator<Item = (State, Mover)>,
    loop_start: Option<usize>,
) -> Option<Ribbon> {
    let mut truth = TruthAlong::of(loaded, &target.program, target.watch, &target.property)?;
    let (mut steps, mut cycle_start) = (0, None);
    for (index, (state, mover)) in states.into_iter().enumerate() {
        steps += usize::from(mover == Mover::System && 0 < index);
        if loop_start == Some(index) {
            cycle_start = Some(steps + 1);
        }
        truth.see(&state, mover, loop_start.is_some_and(|start| start < index));
    }
    truth.along(steps, cycle_start)
}

/// Where the claim of a counterexample, or the automaton of its formula, is after it has looked at each state of the run: places of the
/// process that is watched. Nothing of a very long run.
pub fn claim_along(example: &Counterexample) -> Vec<LocationId> {
    let mut places = Vec::new();
    look_along(&example.told, example.watch, &example.trace, &mut |state, mover| {
        if mover == Mover::Claim {
            places.extend(state.claim.as_ref().map(|claim| claim.location));
        }
    });
    places
}
