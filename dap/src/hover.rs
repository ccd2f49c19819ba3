//! What a name is worth where the mouse is: that of the process whose text it is, not of the one that is stopped.

use crate::debuggee::Debuggee;
use crate::protocol::{EvaluateArguments, EvaluateContext, Evaluation};
use crate::values::References;
use fabius_explore::Exploration;

/// This many processes of one type are told with their values.
const PROCESSES_MAX: usize = 8;

/// The answer for an expression under the mouse, if it is not simply what it is in the process that is stopped: a name that
/// stands in the text of another process type has the values of its processes; and where the client does not say where the
/// name stands, a value is told with the process that it is of.
pub(crate) fn hover(debuggee: &mut Debuggee, args: &EvaluateArguments, pid: u8) -> Option<Result<Evaluation, String>> {
    if args.context != EvaluateContext::Hover {
        return None;
    }
    let Debuggee { e, references, .. } = debuggee;
    let name = args.expression.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
    let stopped = e.snapshot().processes.into_iter().find(|status| status.pid == pid);
    let Some((file, line)) = args.source.file().zip(args.line) else {
        let shared = stopped.filter(|_| e.is_shared_name(pid, name))?;
        let value = value_of(e, references, &args.expression, pid).ok()?;
        return Some(Ok(Evaluation::text(format!("{value} ({})", shared.name))));
    };
    let column = args.column.and_then(|column| u32::try_from(column).ok()).unwrap_or(1);
    let owner = e.owner_at(file, (line, column), name)?.to_owned();
    if stopped.is_some_and(|status| status.process == owner) {
        return None;
    }
    let processes = e.snapshot().processes.into_iter().filter(|status| status.process == owner);
    let told: Vec<String> = processes
        .take(PROCESSES_MAX)
        .filter_map(|status| {
            let value = value_of(e, references, &args.expression, status.pid).ok()?;
            Some(format!("{value} ({})", status.name))
        })
        .collect();
    Some(match told.as_slice() {
        [] => Err(format!("`{name}` is a variable of {owner}, and there is no such process now")),
        told => Ok(Evaluation::text(told.join(", "))),
    })
}

/// The value of an expression in a process, in one line.
fn value_of(e: &Exploration, references: &mut References, expression: &str, pid: u8) -> Result<String, String> {
    let whole = references.whole(e, expression, Some(pid));
    whole.map_or_else(|| e.evaluate(expression, Some(pid)), |whole| Ok(whole.value))
}
