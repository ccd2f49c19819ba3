//! What processes choose in a macro step, in words.

use super::places::{shortened, shown};
use fabius_base::SourceMap;
use fabius_model::SearchedMachine;
use fabius_program::{Action, BinaryOp, EdgeId, Expr, Move, Place, Program, Slot};
use fabius_search::Processes;
use fabius_search::schedule::MacroSteps;

/// The choices of a macro step, one after the other: statements at which another macro step of the same processes goes another way.
pub(super) fn choices<F: Copy>(
    machine: &mut SearchedMachine,
    map: &SourceMap,
    macro_steps: &MacroSteps<Move, F>,
    (state, chosen): (&[u32], usize),
) -> Vec<String> {
    let labels = macro_steps.labels(chosen);
    let Some(movers) = labels.first().map(|label| machine.movers(label)) else { return Vec::new() };
    let same_movers = |other: &&[Move]| other.first().is_some_and(|label| machine.movers(label) == movers);
    let others: Vec<&[Move]> =
        (0..macro_steps.len()).map(|other| macro_steps.labels(other)).filter(same_movers).collect();
    let program = machine.shared_program().clone();
    let mut choices = Vec::new();
    let mut here = state.to_vec();
    for (at, label) in labels.iter().enumerate() {
        let instead = others.iter().filter(|other| other.starts_with(&labels[..at])).filter_map(|other| other.get(at));
        let instead: Vec<&Move> = instead.filter(|other| *other != label).collect();
        let counted = counted(&program, label.edge);
        let is_told = match counted {
            Some((_, leaves)) => leaves,
            None => !instead.is_empty(),
        };
        if is_told {
            // Of a rendezvous, the receiver may be the one who chooses.
            let sends_alike = counted.is_none() && instead.iter().all(|other| other.edge == label.edge);
            let (who, edge) = match label.partner {
                Some((partner, edge)) if sends_alike => (partner, edge),
                _ => (label.pid, label.edge),
            };
            let what = value_chosen(machine, &program, &here, label).unwrap_or_else(|| statement(&program, edge));
            let of = machine.machine().process_of(&here, usize::from(who));
            let name = of.map_or_else(String::new, |of| shown(&program.process(of).name));
            let line = map.position(program.span_of(edge)).line;
            choices.push(format!("{name}[{who}] at line {line} chooses `{what}`"));
        }
        match machine.after(&here, *label) {
            Some(next) => here = next,
            None => break,
        }
    }
    choices
}

/// The statement of an edge, as it is written.
pub(super) fn statement(program: &Program, edge: EdgeId) -> String {
    let statement = program.statement(program.process_of(edge), edge);
    if statement.action == Action::End { "ends".to_owned() } else { shortened(&statement.text) }
}

/// What a process chooses when it leaves a statement that counts up to a value of its choice: that value, as an assignment.
pub(super) fn value_chosen(
    machine: &SearchedMachine,
    program: &Program,
    state: &[u32],
    label: &Move,
) -> Option<String> {
    let (place, true) = counted(program, label.edge)? else { return None };
    let view = machine.machine().view(state)?;
    let (declared, value) = match place.slot {
        Slot::Global(variable) => (&program.globals[variable.0 as usize], view.global_element(variable, 0)?),
        Slot::Local(variable) => {
            let declared = &program.process(program.process_of(label.edge)).locals[variable.0 as usize];
            (declared, *view.local(usize::from(label.pid), variable).first()?)
        }
    };
    declared.dimensions.is_empty().then(|| format!("{} = {value}", declared.name))
}

/// The variable that a single statement counts up to a value of the process's choice, if an edge is a part of that; and whether it leaves
/// the statement. Such a loop stands for a choice among a range of values that is wide, or whose bounds are not numbers.
///
/// ```text
/// L: x < b → M    M: x = x + 1 → L    L: … → elsewhere        all three are one statement of the text
/// ```
fn counted(program: &Program, edge: EdgeId) -> Option<(&Place, bool)> {
    let process = program.process(program.process_of(edge));
    let source = process.locations.iter().find(|location| location.edges.contains(&edge.0))?;
    let guard = source.edges.clone().map(EdgeId).find_map(|other| {
        let Action::Guard(Expr::Binary(BinaryOp::Less, place, _)) =
            &program.statement(program.process_of(other), other).action
        else {
            return None;
        };
        let Expr::Load(place) = place.as_ref() else { return None };
        Some((other, place))
    });
    let (guard, place) = guard?;
    let is_one_statement = source.edges.clone().all(|other| program.span_of(EdgeId(other)) == program.span_of(guard));
    (source.edges.len() == 2 && is_one_statement).then_some((place, edge != guard))
}
