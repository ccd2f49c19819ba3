//! Fair schedules: under which no error can happen, and each process moves again and again.

use super::explored::Explored;
use super::steered::Plan;
use super::{Aim, Question, places};
use fabius_model::SearchedMachine;
use fabius_program::{ProgressOn, Watch};
use fabius_search::restrict::{Goal, Goals, PROCESSES_MAX, Stopped, Strategy};
use fabius_search::{Settings, StopAt};
use fabius_task::query::event_trace;
use fabius_task::report::Verdict;
use fabius_task::report::schedule::{CheckedReport, FairReport, FairVerdict, ScheduleReport};
use fabius_task::words::{counted, grouped};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of pairs of a state and a goal: for each, whom to let move is kept.
const CHOICES_MAX: usize = 100_000_000;

/// What was found.
enum Fair {
    Schedule(Strategy),
    /// These processes cannot be treated fairly, each by itself; and whether progress can be put off for ever.
    None {
        held_back: Vec<u8>,
        no_progress: bool,
    },
}

impl Question<'_> {
    /// Adds whether there is a fair schedule, if that was asked, with the schedule.
    pub(super) fn with_fairness(
        &mut self,
        explored: &mut Explored,
        mut report: ScheduleReport,
    ) -> Result<(ScheduleReport, Option<Plan>), String> {
        if self.request.aim == Aim::Safe {
            return Ok((report, None));
        }
        let (fair, plan) = match self.why_no_fairness(explored) {
            Some((verdict, why)) => (answer(verdict, why), None),
            None => self.fair(explored)?,
        };
        report.fair = Some(fair);
        Ok((report, plan))
    }

    /// Where there is no need to look for a fair schedule: the answer.
    fn why_no_fairness(&self, explored: &Explored) -> Option<(FairVerdict, String)> {
        let unknown = |why: &str| Some((FairVerdict::Unknown, why.to_owned()));
        let progress = |process: &fabius_program::Process| process.locations.iter().any(|location| location.progress);
        match () {
            () if self.request.aim == Aim::Progress && !self.program.processes.iter().any(progress) => {
                unknown("the model has no progress label")
            }
            () if explored.region.contains(0) && explored.whereabouts(&self.stops.all).is_none() => {
                unknown(&format!("there are more than {PROCESSES_MAX} processes, or too many types of them"))
            }
            () if explored.region.contains(0) => None,
            () if explored.lost.is_some() => {
                Some((FairVerdict::None, "no schedule is safe, so none is safe and fair".to_owned()))
            }
            () => Some((FairVerdict::Unknown, self.nothing_found(explored))),
        }
    }

    fn nothing_found(&self, explored: &Explored) -> String {
        let states = counted(explored.graph.len() as u64, "state");
        format!("no fair schedule was found in {states}: {}", self.limit(explored))
    }

    fn fair(&mut self, explored: &mut Explored) -> Result<(FairReport, Option<Plan>), String> {
        let late = || answer(FairVerdict::Unknown, "the time allowed was used up".to_owned());
        let names = self.names(explored);
        let goals = names.len() + usize::from(self.request.aim == Aim::Progress);
        if CHOICES_MAX / goals.max(1) < explored.graph.len() {
            let states = grouped(explored.graph.len() as u64);
            let why = format!("no fair schedule was looked for: {states} states are too many for that");
            return Ok((answer(FairVerdict::Unknown, why), None));
        }
        let progress = self.progress(explored);
        let Ok(known) = Goals::new(&explored.graph, &explored.region, progress, &self.stops.all) else {
            return Ok((late(), None));
        };
        let strategy = match self.strategy(&known, names.keys().copied().collect()) {
            Err(Stopped) => return Ok((late(), None)),
            Ok(Fair::None { .. }) if explored.stopped.is_some() => {
                return Ok((answer(FairVerdict::Unknown, self.nothing_found(explored)), None));
            }
            Ok(Fair::None { held_back, no_progress }) => return Ok((none(&held_back, no_progress, &names), None)),
            Ok(Fair::Schedule(strategy)) => strategy,
        };
        let plan = Plan::new(&strategy, &known, &explored.graph);
        let watch = Watch { trace: event_trace(&self.program), progress: Some(ProgressOn::States), ..Watch::NOTHING };
        let machine = SearchedMachine::new(Arc::clone(&self.program), watch).map_err(|refusal| refusal.to_string())?;
        let cancel = self.stops.all.clone();
        let settings = Settings { limits: fabius_base::Limits::default(), stop_at: StopAt::First, cancel };
        let Some(states) = plan.check(&machine, &mut explored.graph, &settings)? else { return Ok((late(), None)) };
        Ok((found(strategy.goals(), states, &names), Some(plan)))
    }

    /// The names of the processes that can move, by number.
    fn names(&self, explored: &Explored) -> BTreeMap<u8, BTreeSet<String>> {
        let mut names: BTreeMap<u8, BTreeSet<String>> = BTreeMap::new();
        let Some(seen) = explored.whereabouts(&self.stops.all) else { return names };
        for state in explored.region.reached(&explored.graph) {
            for (pid, &(of, _)) in seen.of(state).iter().enumerate() {
                let name = places::shown(&self.program.processes[usize::from(of)].name);
                names.entry(pid as u8).or_default().insert(format!("{name}[{pid}]"));
            }
        }
        names
    }

    /// In which states a process is at a progress label.
    fn progress(&self, explored: &Explored) -> Vec<bool> {
        let Some(seen) = explored.whereabouts(&self.stops.all) else { return Vec::new() };
        let is_progress = |&(of, location): &(u16, u16)| {
            self.program.processes[usize::from(of)].locations[usize::from(location)].progress
        };
        (0..explored.graph.len() as u32).map(|state| seen.of(state).iter().any(is_progress)).collect()
    }

    /// A schedule that is strongly fair to as many processes as can be, one after the other, and weakly fair to the rest.
    fn strategy(&self, known: &Goals<'_>, processes: Vec<u8>) -> Result<Fair, Stopped> {
        let cancel = &self.stops.all;
        let progress = (self.request.aim == Aim::Progress).then_some(Goal::Progress);
        let with_progress = |goals: Vec<Goal>| goals.into_iter().chain(progress).collect::<Vec<Goal>>();
        let strong = with_progress(processes.iter().copied().map(Goal::Strong).collect());
        if let Some(strategy) = known.schedule(&strong, cancel)? {
            return Ok(Fair::Schedule(strategy));
        }
        let mut goals = with_progress(processes.iter().copied().map(Goal::Weak).collect());
        let Some(mut best) = known.schedule(&goals, cancel)? else {
            let mut held_back = Vec::new();
            for &process in &processes {
                if known.schedule(&[Goal::Weak(process)], cancel)?.is_none() {
                    held_back.push(process);
                }
            }
            let no_progress = progress.is_some() && known.schedule(&[Goal::Progress], cancel)?.is_none();
            return Ok(Fair::None { held_back, no_progress });
        };
        for (at, &process) in processes.iter().enumerate() {
            let weak = std::mem::replace(&mut goals[at], Goal::Strong(process));
            match known.schedule(&goals, cancel)? {
                Some(strategy) => best = strategy,
                None => goals[at] = weak,
            }
        }
        Ok(Fair::Schedule(best))
    }
}

fn answer(verdict: FairVerdict, reason: String) -> FairReport {
    let nobody = Vec::new;
    FairReport {
        verdict,
        reason,
        strongly: nobody(),
        weakly: nobody(),
        progress: false,
        held_back: nobody(),
        checked: None,
    }
}

fn named(processes: &[u8], names: &BTreeMap<u8, BTreeSet<String>>) -> Vec<String> {
    let name = |process| names.get(process).map(|names| names.iter().cloned().collect::<Vec<_>>().join("/"));
    processes.iter().filter_map(name).collect()
}

/// There is no fair schedule.
fn none(held_back: &[u8], no_progress: bool, names: &BTreeMap<u8, BTreeSet<String>>) -> FairReport {
    let held_back = named(held_back, names);
    let reason = match (held_back.as_slice(), no_progress) {
        ([], true) => "under every safe schedule, choices inside processes can put off progress for ever".to_owned(),
        ([], false) => "no safe schedule meets all that fairness asks for at once".to_owned(),
        (some, _) => format!(
            "under every safe schedule, {} may have to be held back for ever although it could move all the time",
            some.join(" or ")
        ),
    };
    FairReport { held_back, ..answer(FairVerdict::None, reason) }
}

/// There is one.
fn found(goals: &[Goal], states: u64, names: &BTreeMap<u8, BTreeSet<String>>) -> FairReport {
    let those =
        |wanted: &dyn Fn(&Goal) -> Option<u8>| named(&goals.iter().filter_map(wanted).collect::<Vec<u8>>(), names);
    let strongly = those(&|goal| if let Goal::Strong(process) = goal { Some(*process) } else { None });
    let weakly = those(&|goal| if let Goal::Weak(process) = goal { Some(*process) } else { None });
    let progress = goals.contains(&Goal::Progress);
    let also = if progress { "a progress label is reached again and again, and " } else { "" };
    let processes = match (strongly.as_slice(), weakly.as_slice()) {
        (_, []) => "every process moves again and again as long as it can ever move again".to_owned(),
        ([], _) => "every process moves again and again, unless it is blocked again and again".to_owned(),
        (_, some) => format!(
            "every process moves again and again as long as it can ever move again; only {} may wait for ever, if blocked \
             again and again",
            some.join(", ")
        ),
    };
    let states_of = counted(states, "state");
    let reason =
        format!("there is a safe schedule under which {also}{processes} ({states_of} of model and scheduler, checked)");
    let checked = Some(CheckedReport { verdict: Verdict::Holds, states });
    FairReport { strongly, weakly, progress, checked, ..answer(FairVerdict::Fair, reason) }
}

#[cfg(test)]
mod tests {
    use super::super::sections::tests::{loaded, random_model};
    use super::super::{ScheduleRequest, Scheduled, Stops, schedule};
    use super::*;
    use fabius_base::Cancel;
    use fabius_search::restrict::{Explorer, Limits, Round, region};
    use fabius_search::schedule::{Alike, RoundRobin};

    fn scheduled(text: &str, aim: Aim) -> Scheduled {
        let request = ScheduleRequest { aim, sections: true, waits_max: 0, ..ScheduleRequest::default() };
        schedule(&loaded(text), &request, &Stops::all(&Cancel::new()), &mut |_| {})
    }

    #[test]
    fn every_fair_schedule_passes_the_check_of_it() {
        let mut verdicts = [0, 0];
        for seed in 0..150 {
            let text = random_model(seed);
            let found = scheduled(&text, Aim::Fair);
            assert_eq!(found.failure, None, "seed {seed}\n{text}");
            let fair = found.report.fair.expect("it was asked");
            assert_ne!(fair.verdict, FairVerdict::Unknown, "seed {seed}: {}\n{text}", fair.reason);
            let holds = fair.verdict == FairVerdict::Fair;
            assert_eq!(holds, fair.checked.is_some(), "seed {seed}");
            assert!(!holds || found.no_sections.is_some() || !found.report.sections.is_empty(), "seed {seed}");
            verdicts[usize::from(holds)] += 1;
        }
        assert!(verdicts.iter().all(|&many| 20 < many), "{verdicts:?}");
    }

    #[test]
    fn a_plan_that_neglects_somebody_is_noticed() {
        let loaded =
            loaded("byte x; active proctype P() { do :: x = 1 - x od } active proctype Q() { do :: x = x od }");
        let program = loaded.as_written().expect("a program");
        let mut machine = SearchedMachine::new(program, Watch::NOTHING).expect("a machine");
        let limits = Limits { states_max: 10, transitions_max: 100, memory_bytes_max: None };
        let cancel = Cancel::new();
        let mut explorer = Explorer::new(&mut machine, &RoundRobin(Alike), limits, &cancel).expect("it begins");
        while let Ok(Round::Finished(_)) = explorer.round(usize::MAX) {}
        let mut graph = explorer.into_graph();
        let settings =
            Settings { limits: fabius_base::Limits::default(), stop_at: StopAt::First, cancel: cancel.clone() };
        let plan = |graph: &_, goals: &[Goal]| {
            let region = region(graph);
            let known = Goals::new(graph, &region, Vec::new(), &cancel).expect("nobody stops it");
            let strategy = known.schedule(goals, &cancel).expect("nobody stops it").expect("a schedule");
            Plan::new(&strategy, &known, graph)
        };
        let fair = plan(&graph, &[Goal::Weak(0), Goal::Strong(1)]);
        assert!(matches!(fair.check(&machine, &mut graph, &settings), Ok(Some(_))));
        for neglected in [Goal::Weak(1), Goal::Strong(1)] {
            let unfair = plan(&graph, &[Goal::Weak(0)]).promising(neglected);
            let why = unfair.check(&machine, &mut graph, &settings).expect_err("Q never moves");
            assert!(why.contains("does not meet a goal"), "{why}");
        }
    }
}
