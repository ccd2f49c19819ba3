//! Sections of random models.

mod others;

use super::order::{longest_chain, reduced};
use super::*;
use crate::schedule::{ScheduleRequest, Scheduled, Stops, schedule};
use fabius_engine::{Loaded, Settings, load};
use fabius_program::Watch;
use fabius_search::toy::Random;
use fabius_witness::{moves, settled, step};
use std::collections::HashSet;

pub(in crate::schedule) fn loaded(text: &str) -> Loaded {
    load("m.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default())
}

fn scheduled(text: &str) -> Scheduled {
    unrolled(text, 1)
}

fn unrolled(text: &str, unroll: usize) -> Scheduled {
    let request = ScheduleRequest { sections: true, unroll, ..ScheduleRequest::default() };
    schedule(&loaded(text), &request, &Stops::all(&Cancel::new()), &mut |_| {})
}

/// Processes with loops over shared variables, channels of both kinds, choices and atomic sequences.
pub(in crate::schedule) fn random_model(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = "byte x, y; bool held; chan c = [1] of { byte }; chan r = [0] of { byte };\n".to_owned();
    for name in ["P", "Q", "R"] {
        let steps: Vec<String> = (0..2 + random.below(2))
            .map(|_| match (random.below(12), random.below(3)) {
                (0 | 1, value) => format!("x = {value}"),
                (2, value) => format!("y = x + {value}"),
                (3, value) => format!("assert(x != {value} || y != {value})"),
                (4, value) => format!("x >= {value}"),
                (5, _) => "atomic { !held -> held = true }".to_owned(),
                // Control is lost inside if nobody else has let it go on before.
                (6, value) => format!("atomic {{ x = {value}; !held -> held = true; r ! {value} }}"),
                (7, _) => "held = false".to_owned(),
                (8, value) => format!("if :: c ! {value} :: nempty(c) -> c ? x fi"),
                (9, value) => format!("if :: x = {value} :: y = {value} fi"),
                (10, value) => format!("r ! {value}"),
                _ => "if :: r ? y :: timeout fi".to_owned(),
            })
            .collect();
        let body = steps.join("; ");
        let body = if random.below(2) == 0 { format!("do :: {body} od") } else { body };
        text += &format!("active proctype {name}() {{ byte got; {body} }}\n");
    }
    text
}

#[test]
fn the_order_that_is_told_is_enough() {
    let (mut sections, mut apart) = (0, 0);
    for seed in 0..400 {
        let text = random_model(seed);
        let found = scheduled(&text);
        assert_eq!(found.failure, None, "seed {seed}\n{text}");
        for section in &found.report.sections {
            sections += 1;
            apart += usize::from(section.longest_chain < section.events.len() as u64);
            let earlier =
                section.events.iter().enumerate().all(|(at, event)| event.after.iter().all(|&after| after <= at));
            assert!(earlier && section.then.iter().all(|next| *next <= found.report.sections.len()), "seed {seed}");
        }
    }
    assert!(300 < sections && 50 < apart, "{sections} {apart}");
}

#[test]
fn several_laps_of_a_section_keep_the_order_of_each_and_may_overlap() {
    let (mut several, mut overlap) = (0, 0);
    for seed in 0..400 {
        let text = random_model(seed);
        let (once, often) = (scheduled(&text), unrolled(&text, 3));
        assert_eq!(often.failure, None, "seed {seed}\n{text}");
        let (verdict, again) = (once.report.verdict, often.report.verdict);
        let (once, often) = (once.report.sections, often.report.sections);
        assert_eq!((verdict, once.len()), (again, often.len()), "seed {seed}");
        for (one, three) in once.iter().zip(&often) {
            let laps = if one.then == [one.number] { 3 } else { 1 };
            assert_eq!((three.laps, &three.then), (laps, &one.then), "seed {seed}");
            let statement = |event: &SectionEventReport| (event.process.clone(), event.line, event.statement.clone());
            let steps: Vec<_> = one.events.iter().map(statement).collect();
            let lap = three.events.chunks(one.events.len().max(1));
            assert!(lap.clone().all(|lap| lap.iter().map(statement).collect::<Vec<_>>() == steps), "seed {seed}");
            assert_eq!(one.events, three.events[..one.events.len()], "seed {seed}");
            assert!(three.longest_chain <= laps * one.longest_chain, "seed {seed}");
            several += u64::from(laps == 3);
            overlap += u64::from(three.longest_chain < laps * one.longest_chain);
        }
    }
    assert!(50 < several && 5 < overlap, "{several} {overlap}");
}

#[test]
fn an_order_that_is_not_enough_is_noticed() {
    let loaded = loaded("byte x; active proctype P() { x = 1 } active proctype Q() { x = 2 }");
    let program = loaded.as_written().expect("a program");
    let state = State::watching(&program, Watch::NOTHING).expect("an initial state");
    let events: Vec<Vec<Move>> = [0, 1]
        .iter()
        .map(|&pid| {
            let found = moves(&program, &state).successors.into_iter().find(|(label, _)| label.pid == pid);
            vec![found.expect("a step").0]
        })
        .collect();
    let (written, locks) = (&program, &BTreeSet::new());
    let section =
        Section { program: &program, written, locks, map: &loaded.map, before: &[], events: &events, laps: 1 };
    assert_eq!(section.order(), Ok(vec![vec![], vec![0]]));
    assert!(section.takes_other_orders(&state, &[vec![], vec![0]], 1).is_ok());
    let why = section.takes_other_orders(&state, &[vec![], vec![]], 1).expect_err("the last one to write wins");
    assert!(why.contains("does not determine its end"), "{why}");
}

#[test]
fn what_follows_from_other_orders_is_left_out() {
    assert_eq!(reduced(&[vec![], vec![0], vec![0, 1]]), [vec![], vec![0], vec![1]]);
    assert_eq!(longest_chain(&[vec![], vec![], vec![0], vec![2, 1]]), 3);
}

#[test]
fn two_locks_are_taken_one_after_the_other() {
    let process = |name: &str, first: &str, second: &str| {
        format!(
            "active proctype {name}() {{\ndo\n:: atomic {{ !{first} -> {first} = true }};\n\
             atomic {{ !{second} -> {second} = true }};\n{second} = false;\n{first} = false\nod }}\n"
        )
    };
    let text = format!("bool a, b;\n{}{}", process("P", "a", "b"), process("Q", "b", "a"));
    let sections = scheduled(&text).report.sections;
    let [section] = sections.as_slice() else { panic!("{sections:?}") };
    let who: Vec<&str> = section.events.iter().map(|event| event.process.as_str()).collect();
    assert_eq!(who, ["P[0]", "P[0]", "P[0]", "P[0]", "Q[1]", "Q[1]", "Q[1]", "Q[1]"]);
    // Q may take b once P has given it back, and a once P has given that back.
    let after: Vec<&[usize]> = section.events[4..].iter().map(|event| event.after.as_slice()).collect();
    assert_eq!(after, [&[3][..], &[4], &[], &[]]);
    assert_eq!((section.orders, section.then.as_slice()), (2, &[1][..]));
    let sizes = |unroll: usize| {
        let sections = unrolled(&text, unroll).report.sections;
        let [section] = sections.as_slice() else { panic!("{sections:?}") };
        (section.events.len(), section.orders, section.longest_chain)
    };
    assert_eq!([1, 2, 4, 8].map(sizes), [(8, 2, 7), (16, 6, 13), (32, 14, 25), (64, 30, 49)]);
}

fn bare(text: &str) -> Scheduled {
    let request = ScheduleRequest { sections: true, without_locks: true, ..ScheduleRequest::default() };
    schedule(&loaded(text), &request, &Stops::all(&Cancel::new()), &mut |_| {})
}

/// Processes that share data with locks, semaphores and barriers around it, and choices.
fn model_with_locks(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = "byte x, y, arrived, rooms = 1; bool a, b; bool own[3]; chan c = [1] of { byte };\n\
        chan key = [1] of { bit }; chan seats = [2] of { byte, byte };\n"
        .to_owned();
    for name in ["P", "Q", "R"].iter().take(2 + random.below(2)) {
        let mut steps = Vec::new();
        for _ in 0..1 + random.below(3) {
            let value = random.below(3);
            let data = match random.below(7) {
                0 => format!("x = {value}"),
                1 => format!("y = x + {value}"),
                2 => "x++".to_owned(),
                3 => "x = y".to_owned(),
                4 => format!("assert(x != {value} || y != 2)"),
                5 => format!("if :: c ! {value} :: nempty(c) -> c ? x fi"),
                _ => format!("if :: x = {value} :: y = {value} fi"),
            };
            steps.push(match random.below(15) {
                0 | 1 => format!("atomic {{ !a -> a = true }}; {data}; a = false"),
                2 | 3 => format!("atomic {{ !b -> b = true; {data} }}; b = false"),
                4 => format!("rooms > 0; rooms--; {data}; rooms++"),
                5 => "arrived++; arrived >= 2".to_owned(),
                6 => format!("d_step {{ !own[_pid] -> own[_pid] = 1 }}; {data}; own[_pid] = 0"),
                7 => format!("if :: !a -> {data} :: b -> b = false fi"),
                8 => format!("key ! 1; {data}; key ? _"),
                9 => format!("atomic {{ key ! 0; {data} }}; key ? 0"),
                10 => format!("seats ! {value}, _pid; {data}; seats ? got, _"),
                11 => format!("atomic {{ !a && x != {value} -> a = true }}; {data}; a = false"),
                12 => format!("atomic {{ nfull(key) && y < 2 && !b -> b = true }}; {data}; b = false"),
                _ => data,
            });
        }
        let body = steps.join(";\n");
        let body = if random.below(3) == 0 { body } else { format!("do :: {body} od") };
        text += &format!("active proctype {name}() {{ byte got; {body} }}\n");
    }
    text
}

/// The program without its locks, taken by the reference interpreter as a scheduler lets it go on that knows nothing but the
/// sections: each process on its own, but a step of a section once those before it are over.
struct Bare {
    program: Arc<Program>,
    locks: BTreeSet<VariableId>,
    written: Arc<Program>,
    sections: Vec<SectionReport>,
    met: HashSet<(usize, bool, State)>,
    /// Sections gone through, and steps taken.
    taken: (usize, usize),
    /// Sections in which more states are met while a part is done are left out, …
    parts_max: usize,
    /// … and so were so many.
    left_out: usize,
}

impl Bare {
    /// What a process can do by itself: its macro steps; no state after an error.
    fn macro_steps(&self, state: &State, pid: u8) -> Vec<(Vec<Move>, Option<State>)> {
        let mut over: Vec<(Vec<Move>, Option<State>)> = Vec::new();
        let mut open = vec![(Vec::new(), state.clone())];
        while let Some((labels, state)) = open.pop() {
            // A rendezvous inside an atomic sequence hands control over.
            let mover = state.holder.unwrap_or(pid);
            let successors = moves(&self.program, &state).successors;
            for (label, _) in successors.iter().rev().filter(|(label, _)| label.pid == mover) {
                let taken = step(&self.program, &state, *label).expect("possible");
                let labels: Vec<Move> = labels.iter().copied().chain([*label]).collect();
                let next = taken.outcome.state().filter(|_| taken.outcome.fault().is_none());
                match next.map(|next| settled(&self.program, next)) {
                    Some(next) if next.holder.is_some() => open.push((labels, next)),
                    next if over.iter().all(|(known, end)| known.first() != labels.first() || *end != next) => {
                        over.push((labels, next))
                    }
                    _ => {}
                }
            }
        }
        over
    }

    fn is_lock(&self, label: &Move) -> bool {
        is_only_about(&self.written.statement(self.written.process_of(label.edge), label.edge).action, &self.locks)
    }

    /// Whether a step that is told is one of those that do nothing without the locks.
    fn does_nothing(&self, event: &SectionEventReport) -> bool {
        let statements = self.written.processes.iter().flat_map(|process| &process.statements);
        let idle = statements.filter(|statement| is_only_about(&statement.action, &self.locks));
        let texts: BTreeSet<String> = idle.map(|statement| shortened(&statement.text)).collect();
        event.statement.split(" … ").all(|text| texts.contains(text))
    }

    /// The state after all steps that do nothing without the locks.
    fn advanced(&self, mut state: State) -> State {
        for round in 0.. {
            assert!(round < 100, "steps that do nothing follow each other for ever");
            let idle =
                (0..state.processes.len() as u8).find_map(|pid| match self.macro_steps(&state, pid).as_slice() {
                    [(labels, next)] if labels.iter().all(|label| self.is_lock(label)) => next.clone(),
                    _ => None,
                });
            match idle {
                Some(next) => state = next,
                None => break,
            }
        }
        state
    }

    /// The states to which a step of a section leads: one, or those of all ways of its process at an open choice.
    fn ways(&self, state: &State, event: &SectionEventReport) -> Vec<(SectionEventReport, State)> {
        let number = |name: &str| name.split(['[', ']']).nth(1).and_then(|pid| pid.parse().ok()).expect("a number");
        let (pid, partner) = (number(&event.process), event.partner.as_deref().map(number));
        let is_with_it = |(labels, _): &(Vec<Move>, Option<State>)| {
            labels.first().is_some_and(|label| label.partner.map(|(partner, _)| partner) == partner)
        };
        let told = |(labels, next): (Vec<Move>, Option<State>)| {
            let text = |label: &Move| {
                let statement = self.program.statement(self.program.process_of(label.edge), label.edge);
                if statement.action == Action::End { "ends".to_owned() } else { shortened(&statement.text) }
            };
            let (first, last) = (labels.first().expect("a step"), labels.last().expect("a step"));
            let statement = if labels.len() == 1 { text(first) } else { format!("{} … {}", text(first), text(last)) };
            (
                SectionEventReport { statement, ..event.clone() },
                self.advanced(next.expect("no error without the locks")),
            )
        };
        self.macro_steps(state, pid).into_iter().filter(is_with_it).map(told).collect()
    }

    /// Goes through a section from a state in all orders that it allows; `begun` is its first step, if that was taken already.
    fn go(&mut self, number: usize, begun: Option<SectionEventReport>, state: State) {
        if !self.met.insert((number, begun.is_some(), state.clone())) {
            return;
        }
        let section = self.sections[number - 1].clone();
        let events = &section.events;
        let statement = |event: Option<&SectionEventReport>| event.map(|event| event.statement.clone());
        assert!(begun.is_none() || statement(begun.as_ref()) == statement(events.first()));
        self.taken.0 += 1;
        let first: BTreeSet<usize> = begun.iter().map(|_| 0).collect();
        let (mut open, mut seen, mut ends) = (vec![(first, state)], HashSet::new(), HashSet::new());
        while let Some((done, state)) = open.pop() {
            if !seen.insert((done.clone(), state.clone())) {
                continue;
            }
            if self.parts_max < seen.len() {
                self.left_out += 1;
                return;
            }
            if done.len() == events.len() {
                ends.insert(state);
                continue;
            }
            for (index, event) in events.iter().enumerate().filter(|(index, _)| !done.contains(index)) {
                let mut before = (0..index).filter(|&earlier| events[earlier].process == event.process);
                if !before.all(|earlier| done.contains(&earlier))
                    || !event.after.iter().all(|&after| done.contains(&(after - 1)))
                {
                    continue;
                }
                // It may be told because of its order with a process that ends; it does nothing, and is over already.
                if self.does_nothing(event) {
                    open.push((done.iter().copied().chain([index]).collect(), state.clone()));
                    continue;
                }
                let ways = self.ways(&state, event);
                let [(taken, next)] = ways.as_slice() else { panic!("{} ways at {event:?}", ways.len()) };
                assert_eq!(taken.statement, event.statement);
                self.taken.1 += 1;
                open.push((done.iter().copied().chain([index]).collect(), next.clone()));
            }
        }
        let [end] = Vec::from_iter(ends).try_into().unwrap_or_else(|ends: Vec<State>| panic!("{} ends", ends.len()));
        match section.then.as_slice() {
            [] => {
                let goes_on = (0..end.processes.len() as u8).any(|pid| !self.macro_steps(&end, pid).is_empty());
                assert!(!goes_on, "a run is over, but somebody can move without the locks");
            }
            [next] if self.sections[next - 1].events.is_empty() || *next == number => {
                if *next != number || !events.is_empty() {
                    self.go(*next, None, end);
                }
            }
            [next] => self.go(*next, None, end),
            several => {
                let who = self.sections[several[0] - 1].events[0].clone();
                let ways = self.ways(&end, &who);
                assert_eq!(ways.len(), several.len(), "as many ways on as sections that follow");
                for (taken, next) in ways {
                    // Where several ways read the same, which is which is not known here.
                    let fits = |number: &&usize| self.sections[**number - 1].events[0].statement == taken.statement;
                    let sections: Vec<usize> = several.iter().filter(fits).copied().collect();
                    assert!(!sections.is_empty(), "a section for each way");
                    if let [section] = sections.as_slice() {
                        self.go(*section, Some(taken), next);
                    }
                }
            }
        }
    }
}

/// Whether a process could go round in a loop that does nothing without the locks.
fn goes_round_doing_nothing(written: &Program, locks: &BTreeSet<VariableId>) -> bool {
    written.processes.iter().any(|process| {
        let idle = |location: usize| {
            let mut edges = written.edges_of(&process.locations[location]).map(|(_, edge)| edge);
            let edge = edges.next()?;
            let about = is_only_about(&process.statements[edge.statement.0 as usize].action, locks);
            about.then_some(edge.target.0 as usize)
        };
        let count = process.locations.len();
        (0..count).any(|start| (0..=count).try_fold(start, |at, _| idle(at)).is_some())
    })
}

#[test]
fn without_locks_the_orders_alone_keep_a_program_safe() {
    let (mut models, mut sections, mut steps, mut fewer, mut left_out, mut channels) = (0, 0, 0, 0, 0, 0);
    for seed in 0..120 {
        let text = model_with_locks(seed);
        let (told, with) = (bare(&text), scheduled(&text));
        assert_eq!((told.failure, with.failure), (None, None), "seed {seed}\n{text}");
        let (report, with) = (told.report, with.report);
        if report.sections.is_empty() || report.without.is_empty() {
            continue;
        }
        let written = loaded(&text).as_written().expect("a program");
        let locks = only_waited_for(&written);
        let program = Arc::new(without(&written, &locks));
        let is_long = |section: &SectionReport| 10 < section.events.len();
        if goes_round_doing_nothing(&written, &locks) || report.sections.iter().any(is_long) {
            continue;
        }
        let start = State::watching(&program, Watch::NOTHING).expect("an initial state");
        for (bare, with) in report.sections.iter().zip(&with.sections) {
            assert_eq!(bare.events.len() as u64 + bare.left_out, with.events.len() as u64, "seed {seed}");
            assert!(bare.longest_chain <= with.longest_chain, "seed {seed}");
            fewer += u64::from(bare.longest_chain < with.longest_chain);
            left_out += bare.left_out;
        }
        let (met, taken) = (HashSet::new(), (0, 0));
        let (parts_max, left_out_of_walk) = (usize::MAX, 0);
        let sections_told = report.sections;
        let mut walk = Bare {
            program,
            locks,
            written,
            sections: sections_told,
            met,
            taken,
            parts_max,
            left_out: left_out_of_walk,
        };
        let start = walk.advanced(start);
        walk.go(1, None, start);
        models += 1;
        channels += u64::from(report.without.iter().any(|name| ["key", "seats"].contains(&name.as_str())));
        sections += walk.taken.0;
        steps += walk.taken.1;
    }
    let enough = 40 < models && 40 < fewer && 100 < left_out && 10 < channels;
    assert!(enough, "{models} {sections} {steps} {fewer} {left_out} {channels}");
}

#[test]
fn what_does_more_than_waiting_is_no_lock() {
    let names = |text: &str| {
        let program = loaded(text).as_written().expect("a program");
        let found = only_waited_for(&program);
        found.iter().map(|variable| program.globals[variable.0 as usize].name.clone()).collect::<Vec<String>>()
    };
    let around = |body: &str| format!("byte x; bool l;\nactive [2] proctype P() {{ {body} }}");
    assert_eq!(names(&around("atomic { !l -> l = true }; x++; assert(x == 1); x--; l = false")), ["l"]);
    assert_eq!(names(&around("atomic { !l -> l = true; x++ }; assert(x == 1); x--; l = false")), ["l"]);
    // What only goes from one to the other is left out with it.
    let pair = |more: &str| {
        names(&format!("byte x; bool l, m;\nactive [2] proctype P() {{ !l; l = 1; m = l; {more} l = 0 }}"))
    };
    assert_eq!((pair("x++;"), pair("x = m; assert(x);")), (vec!["l".to_owned(), "m".to_owned()], vec![]));
    let asked = |more: &str| names(&format!("{}\n{more}", around("!l; l = true; here: x++; l = false")));
    assert_eq!(asked("ltl p { [] (x < 2) }"), ["l"]);
    assert_eq!(asked("ltl p { [] (l || x == 0) }"), Vec::<String>::new());
    assert_eq!(asked("active proctype Q() { P[0]@here; assert(x == 0) }"), Vec::<String>::new());
    // Channels as locks, and what else is asked where somebody waits.
    let with_channel = |body: &str| {
        let lock = "byte x, n; bool l; chan c = [1] of { byte }; chan r = [0] of { byte };";
        names(&format!("{lock}\nactive [2] proctype P() {{ byte got; {body} }}"))
    };
    for (body, expected) in [
        ("c ! 1; x++; assert(x == 1); x--; c ? _", &["c"][..]),
        ("c ! 1; x++; assert(x == 1); x--; c ? 1", &["c"]),
        ("c ! 1; x++; assert(x == 1); x--; c ? got", &["c"]),
        ("atomic { empty(c) -> c ! 1 }; x++; assert(x == 1); x--; c ? got", &[]),
        ("atomic { c ? [1] && !l -> l = 1 }; assert(x == 0); l = 0; c ! 1", &["l", "c"]),
        ("atomic { !l && x < 9 -> l = 1 }; x++; assert(x == 1); l = 0", &["l"]),
        ("atomic { x < 9 && (!l && n == n) -> l = 1 }; x++; n = x; assert(n == 1); l = 0", &["l"]),
        ("c ! 1; x++; assert(x == 1); x--; c ? got; assert(got)", &[]),
        ("c ! 1; x++; assert(x == 1); x--; c ? n; assert(n)", &[]),
        ("c ! 1; x++; assert(len(c) == 1); c ? _", &[]),
        ("r ! 1; x++; assert(x == 1); r ? _", &[]),
        ("chan d = c; c ! 1; x++; assert(x == 1); d ? _", &[]),
        ("if :: c ! 1 -> x++ :: full(c) fi; assert(x == 1); c ? _", &[]),
        ("atomic { !l || x < 9 -> l = 1 }; x++; assert(x == 1); l = 0", &[]),
    ] {
        assert_eq!(with_channel(body), expected, "{body}");
    }
    for body in [
        "do :: atomic { !l -> l = true }; assert(x == 0); l = false :: break od",
        "if :: !l -> l = true :: else fi; assert(x == 0); l = false",
        "atomic { x++; !l -> l = true }; assert(x == 1); x--; l = false",
        "end: atomic { !l -> l = true }; assert(x == 0); l = false",
        "l = true; x++; assert(x == 1)",
        "!l; x = l; assert(x == 0)",
        "!l; l = true; if :: timeout -> assert(x == 0) fi",
        "!l; l = true; assert(l)",
    ] {
        assert_eq!(names(&around(body)), Vec::<String>::new(), "{body}");
    }
}
