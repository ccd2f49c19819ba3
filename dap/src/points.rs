//! Where a run is to stop: breakpoints on lines, process types and data, and kinds of errors.

use crate::protocol::{
    Breakpoint, BreakpointConditions, DataBreakpoint, ExceptionFilter, FunctionBreakpoint, Source, SourceBreakpoint,
    StopReason,
};
use fabius_explore::{Exploration, Pattern, Place};

/// What a breakpoint waits for.
#[derive(Clone, Debug)]
enum Trigger {
    Line(Place),
    /// A process of this type begins.
    Begins(String),
    /// A pattern comes true.
    Pattern(Pattern),
    /// A variable or a channel changes.
    Changes(String),
}

/// A breakpoint in force.
#[derive(Clone, Debug)]
struct Point {
    id: i64,
    file: String,
    trigger: Trigger,
    condition: Option<Pattern>,
    hits: Hits,
    log: Option<String>,
    count: u64,
}

/// On which of its hits a breakpoint stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hits {
    All,
    From(u64),
    Exactly(u64),
    Below(u64),
    Every(u64),
}

impl Hits {
    /// Reads `3` (from the third one on), `>= 3`, `> 3`, `== 3`, `< 3`, `<= 3`, `% 3`.
    fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let split = text.find(|c: char| c.is_ascii_digit())?;
        let (sign, number) = text.split_at(split);
        let number: u64 = number.trim().parse().ok()?;
        Some(match sign.trim() {
            "" | ">=" => Self::From(number),
            ">" => Self::From(number.checked_add(1)?),
            "=" | "==" => Self::Exactly(number),
            "<" => Self::Below(number),
            "<=" => Self::Below(number.checked_add(1)?),
            "%" if 0 < number => Self::Every(number),
            _ => return None,
        })
    }

    fn stops(self, count: u64) -> bool {
        match self {
            Self::All => true,
            Self::From(first) => first <= count,
            Self::Exactly(only) => only == count,
            Self::Below(end) => count < end,
            Self::Every(number) => count.is_multiple_of(number),
        }
    }
}

/// Kinds of errors at which a run may stop. All of them are on unless the user says otherwise.
pub(crate) const FILTERS: &[ExceptionFilter] = &[
    filter("assertion", "Assertions that fail", "Stop where an assertion does not hold."),
    filter("deadlock", "Deadlocks", "Stop where nothing can move and not every process may stop."),
    filter("livelock", "Livelocks", "Stop where a loop without progress starts again."),
    filter("acceptance", "Acceptance cycles, violated formulas", "Stop where an accepting loop starts again."),
    filter(
        "fault",
        "Runtime errors",
        "Stop at a runtime error: division by zero, an index out of range, a dead channel.",
    ),
];

const fn filter(filter: &'static str, label: &'static str, description: &'static str) -> ExceptionFilter {
    ExceptionFilter { filter, label, description, default: true }
}

/// All breakpoints.
#[derive(Debug)]
pub(crate) struct Points {
    points: Vec<Point>,
    filters: Vec<String>,
    last_id: i64,
}

/// Why a run stops at a breakpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Hit {
    pub reason: StopReason,
    pub ids: Vec<i64>,
    pub pid: Option<u8>,
    pub text: String,
}

impl Points {
    pub(crate) fn new() -> Self {
        let filters = FILTERS.iter().filter(|kind| kind.default).map(|kind| kind.filter.to_owned()).collect();
        Self { points: Vec::new(), filters, last_id: 0 }
    }

    pub(crate) fn set_filters(&mut self, filters: Vec<String>) {
        self.filters = filters;
    }

    pub(crate) fn stops_at(&self, filter: &str) -> bool {
        self.filters.iter().any(|known| known == filter)
    }

    /// The hits so far are forgotten.
    pub(crate) fn begin(&mut self) {
        self.points.iter_mut().for_each(|point| point.count = 0);
    }

    /// Replaces the breakpoints of a file.
    pub(crate) fn set_lines(&mut self, e: &Exploration, file: &str, requests: &[SourceBreakpoint]) -> Vec<Breakpoint> {
        self.points.retain(|point| !matches!(point.trigger, Trigger::Line(_)) || point.file != file);
        let trigger = |request: &SourceBreakpoint| {
            let place = e.place(file, request.line).ok_or("no process ever stops on this line or after it")?;
            Ok(Trigger::Line(place))
        };
        requests.iter().map(|request| self.add(e, file, &request.conditions, trigger(request))).collect()
    }

    /// Replaces those on process types, and on patterns.
    pub(crate) fn set_types(&mut self, e: &Exploration, requests: &[FunctionBreakpoint]) -> Vec<Breakpoint> {
        self.points.retain(|point| !matches!(point.trigger, Trigger::Begins(_) | Trigger::Pattern(_)));
        let trigger = |request: &FunctionBreakpoint| {
            if e.process_types().any(|name| name == request.name) {
                return Ok(Trigger::Begins(request.name.clone()));
            }
            let is_name = request.name.chars().all(|c| c.is_alphanumeric() || c == '_');
            e.pattern(&request.name).map(|pattern| Trigger::Pattern(pattern.coming_true())).map_err(|why| {
                let known: Vec<&str> = e.process_types().collect();
                let no_type = format!("unknown process type `{}` (known: {})", request.name, known.join(", "));
                if is_name { no_type } else { why }
            })
        };
        requests.iter().map(|request| self.add(e, "", &request.conditions, trigger(request))).collect()
    }

    /// Replaces those on variables and channels.
    pub(crate) fn set_data(&mut self, e: &Exploration, requests: &[DataBreakpoint]) -> Vec<Breakpoint> {
        self.points.retain(|point| !matches!(point.trigger, Trigger::Changes(_)));
        let trigger = |request: &DataBreakpoint| match request.data_id.trim() {
            "" => Err("this cannot be watched".to_owned()),
            name => Ok(Trigger::Changes(name.to_owned())),
        };
        requests.iter().map(|request| self.add(e, "", &request.conditions, trigger(request))).collect()
    }

    /// Adds a breakpoint if everything about it makes sense; says what became of it.
    fn add(
        &mut self,
        e: &Exploration,
        file: &str,
        conditions: &BreakpointConditions,
        trigger: Result<Trigger, String>,
    ) -> Breakpoint {
        self.last_id += 1;
        let id = self.last_id;
        let made = trigger.and_then(|trigger| {
            let text = |text: &Option<String>| {
                text.as_ref().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
            };
            let condition = text(&conditions.condition).map(|text| e.pattern(&text)).transpose()?;
            let hits = match text(&conditions.hit_condition) {
                None => Hits::All,
                Some(hits) => {
                    Hits::read(&hits).ok_or_else(|| format!("invalid hit count `{hits}` (expected 3, == 3 or % 3)"))?
                }
            };
            let log = text(&conditions.log_message);
            Ok(Point { id, file: file.to_owned(), trigger, condition, hits, log, count: 0 })
        });
        match made {
            Ok(point) => {
                let line = match &point.trigger {
                    Trigger::Line(place) => Some(place.line),
                    Trigger::Begins(_) | Trigger::Pattern(_) | Trigger::Changes(_) => None,
                };
                self.points.push(point);
                let source = line.map(|_| Source { name: None, path: Some(file.to_owned()) });
                Breakpoint { id, verified: true, message: None, source, line }
            }
            Err(why) => Breakpoint { id, message: Some(why), ..Breakpoint::default() },
        }
    }

    /// Whether the run stops where it is now, after a move forward (or back); and what is to be logged.
    pub(crate) fn look(&mut self, e: &Exploration, log: &mut Vec<String>) -> Option<Hit> {
        if self.points.is_empty() {
            return None;
        }
        let changes = e.step_to(e.here()).map(|step| step.changes).unwrap_or_default();
        let mut found: Option<Hit> = None;
        for point in &mut self.points {
            let (reason, pid, text) = match &mut point.trigger {
                Trigger::Line(place) => match e.arrived_at(place) {
                    Some(pid) => (StopReason::Breakpoint, Some(pid), format!("line {}", place.line)),
                    None => continue,
                },
                Trigger::Begins(name) => match e.begun().into_iter().find(|(_, ty)| ty == name) {
                    Some((pid, _)) => (StopReason::FunctionBreakpoint, Some(pid), format!("{name} begins")),
                    None => continue,
                },
                Trigger::Pattern(pattern) => {
                    if !pattern.holds(e) {
                        continue;
                    }
                    (
                        StopReason::FunctionBreakpoint,
                        e.concerned().first().copied(),
                        format!("`{}` is true now", pattern.text()),
                    )
                }
                Trigger::Changes(name) => match changes.iter().find(|change| change.name == *name) {
                    Some(change) => {
                        let text = format!("{name} changed from {} to {}", change.old, change.new);
                        (StopReason::DataBreakpoint, e.concerned().first().copied(), text)
                    }
                    None => continue,
                },
            };
            if point.condition.as_mut().is_some_and(|condition| !condition.holds(e)) {
                continue;
            }
            point.count = point.count.saturating_add(1);
            if !point.hits.stops(point.count) {
                continue;
            }
            if let Some(message) = &point.log {
                log.push(filled(e, message, pid));
                continue;
            }
            let hit = found.get_or_insert(Hit { reason, ids: Vec::new(), pid, text });
            hit.ids.push(point.id);
        }
        found
    }

    /// The same breakpoints in another form of the model; those that make no sense there are left out.
    pub(crate) fn reopen(&mut self, e: &Exploration) {
        self.points.retain_mut(|point| {
            let place = match &point.trigger {
                Trigger::Line(place) => e.place(&point.file, place.line).map(Trigger::Line),
                Trigger::Pattern(pattern) => {
                    e.pattern(pattern.text()).ok().map(|pattern| Trigger::Pattern(pattern.coming_true()))
                }
                other => Some(other.clone()),
            };
            let condition = point.condition.as_ref().map(|condition| e.pattern(condition.text())).transpose();
            let (Some(trigger), Ok(condition)) = (place, condition) else { return false };
            (point.trigger, point.condition, point.count) = (trigger, condition, 0);
            true
        });
    }
}

/// A message with the values of what stands in braces.
fn filled(e: &Exploration, message: &str, pid: Option<u8>) -> String {
    let mut out = String::new();
    let mut rest = message;
    while let Some((before, from)) = rest.split_once('{') {
        out.push_str(before);
        match from.split_once('}') {
            Some((expression, after)) => {
                out.push_str(&e.evaluate(expression, pid).unwrap_or_else(|why| format!("<{why}>")));
                rest = after;
            }
            None => {
                out.push('{');
                rest = from;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::Hits;

    #[test]
    fn counts_of_hits_are_read_as_people_write_them() {
        let stops = |text: &str| -> Option<Vec<u64>> {
            let hits = Hits::read(text)?;
            Some((1..7).filter(|count| hits.stops(*count)).collect())
        };
        assert_eq!(stops("5"), Some(vec![5, 6]));
        assert_eq!(stops(" > 5"), Some(vec![6]));
        assert_eq!(stops("==2"), Some(vec![2]));
        assert_eq!(stops("<= 2"), Some(vec![1, 2]));
        assert_eq!(stops("% 3"), Some(vec![3, 6]));
        for bad in ["", "x", "% 0", "-1", "99999999999999999999999", "> 18446744073709551615"] {
            assert_eq!(stops(bad), None, "{bad}");
        }
    }
}
