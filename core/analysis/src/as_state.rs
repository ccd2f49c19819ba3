//! From the words of the machine to a state of the reference interpreter.

use fabius_machine::View;
use fabius_program::{ProcessId, Program, Variable, VariableId, Watch};
use fabius_witness::{ChannelState, ClaimState, NextMover, ProcessState, State, TraceState, Values};

/// A state of the machine as the reference interpreter writes it, with hidden variables at 0.
pub fn as_state(program: &Program, watch: Watch, view: &View<'_>) -> State {
    let shown = |variable: &Variable, mut values: Vec<i32>| {
        if variable.hidden {
            values.fill(0);
        }
        Values::from(values)
    };
    let each = |variables: &[Variable], value: &dyn Fn(VariableId) -> Vec<i32>| -> Vec<Values> {
        variables.iter().enumerate().map(|(id, variable)| shown(variable, value(VariableId(id as u32)))).collect()
    };
    let process = |pid: usize| {
        let process = view.process_of(pid)?;
        let found = ProcessState {
            process,
            location: view.location_of(pid)?,
            priority: view.priority_of(pid)?,
            locals: each(&program.process(process).locals, &|id| view.local(pid, id)),
        };
        Some(found.into())
    };
    let channel = |id: usize| {
        let channel = view.channel(id)?;
        Some(ChannelState { channel_type: channel.ty, messages: channel.messages.into() }.into())
    };
    let claim = |process: ProcessId| {
        let turn = match (view.is_claims_turn(), view.stuttered()) {
            (false, _) => NextMover::System,
            (true, false) => NextMover::Claim,
            (true, true) => NextMover::Stuttered,
        };
        let locals = each(&program.process(process).locals, &|id| view.claim_local(id));
        Some(ClaimState { process, location: view.claim_location()?, locals, turn })
    };
    let trace = |process: ProcessId| Some(TraceState { process, location: view.trace_location()? });
    State {
        globals: each(&program.globals, &|id| view.global(id)),
        processes: (0..view.process_count()).filter_map(process).collect(),
        channels: (1..=view.channel_count()).filter_map(channel).collect(),
        holder: view.holder().and_then(|pid| u8::try_from(pid).ok()),
        last: view.last().and_then(|pid| u8::try_from(pid).ok()).unwrap_or(0),
        claim: watch.claim.and_then(claim),
        trace: watch.trace.and_then(trace),
    }
}
