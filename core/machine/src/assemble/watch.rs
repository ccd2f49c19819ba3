//! Code for what is watched beside the processes: where a claim and an event trace stand in a state, and what
//! the trace says of an event.

use super::{Assembler, Done, facts};
use crate::Refusal;
use crate::code::{BLOCKED, ChannelRef, ClaimCode, Instr, NONE, Pc, TraceCode, TraceEdge};
use crate::layout::BLOCK_WORDS_MAX;
use crate::shape::Placed;
use fabius_program::{Action, Expr, Pattern, Process, ProcessKind};

impl Assembler<'_> {
    /// Whether the code that is written belongs to something that is watched, and to no process.
    pub(super) fn is_watcher(&self) -> bool {
        let is_it = |id: Option<fabius_program::ProcessId>| id.is_some_and(|id| self.process == Some(id.0 as usize));
        is_it(self.watch.claim) || is_it(self.watch.trace)
    }

    /// What is known of the channel of a send or a receive, unless it must be found out for the event trace.
    pub(super) fn known_channel(&self, e: &Expr) -> Option<super::expr::StaticChannel> {
        if self.watch.trace.is_some() { None } else { self.static_channel(e) }
    }

    /// Tells the event trace of a send or a receive.
    pub(super) fn event(&mut self, sent: bool, offered: bool) {
        if self.watch.trace.is_some() {
            self.emit(Instr::Event { sent, offered });
        }
    }

    /// Places the claim and the event trace behind the globals.
    pub(super) fn place_watched(&mut self) -> Done {
        if let Some(id) = self.watch.claim {
            let index = id.0 as usize;
            let claim = self.watched_process(index, &[ProcessKind::Claim])?;
            let kind = &self.code.processes[index];
            if !kind.channels.is_empty() {
                return Err(Refusal::Malformed("a claim has channels"));
            }
            let placed = Placed::new(&self.code, id.0, self.code.global_words, 0);
            let asks_timeout = facts::asks(claim, &mut |e| *e == Expr::Timeout);
            let asks_progress = self.program.uses.non_progress;
            self.code.claim = Some(ClaimCode { placed, asks_timeout, asks_progress });
            self.code.global_words += self.code.processes[index].words;
        }
        if let Some(id) = self.watch.trace {
            let process = self.watched_process(id.0 as usize, &[ProcessKind::Trace, ProcessKind::NoTrace])?;
            if !process.locals.is_empty() {
                return Err(Refusal::Malformed("an event trace has variables"));
            }
            self.code.trace = Some(TraceCode {
                word: self.code.global_words,
                process: id.0,
                negated: process.kind == ProcessKind::NoTrace,
                closing: NONE,
                edges: Vec::new(),
                scopes: [Vec::new(), Vec::new()],
            });
            self.code.global_words += 1;
        }
        if self.code.global_words > BLOCK_WORDS_MAX { Err(Refusal::TooLarge) } else { Ok(()) }
    }

    fn watched_process(&self, index: usize, kinds: &[ProcessKind]) -> Result<&Process, Refusal> {
        let process = self.program.processes.get(index).ok_or(Refusal::Malformed("no such process"))?;
        if !kinds.contains(&process.kind) || self.facts.runs[index] {
            return Err(Refusal::Malformed("a process is watched as what it is not"));
        }
        Ok(process)
    }

    /// Code of the event trace.
    pub(super) fn trace_code(&mut self) -> Done {
        let Some(id) = self.watch.trace else { return Ok(()) };
        let program = self.program;
        let process = program.process(id);
        let mut edges = Vec::with_capacity(process.locations.len());
        let mut closing = NONE;
        for (at, location) in process.locations.iter().enumerate() {
            let mut leaving = Vec::new();
            for (_, edge) in program.edges_of(location) {
                let action = &process.statements[edge.statement.0 as usize].action;
                if *action == Action::End {
                    closing = at as u32;
                } else {
                    leaving.push(self.trace_edge(action, edge.target.0)?);
                }
            }
            edges.push(leaving);
        }
        if closing == NONE && process.kind == ProcessKind::NoTrace {
            return Err(Refusal::Malformed("an event trace has no end"));
        }
        let mut scopes = [Vec::new(), Vec::new()];
        for statement in &process.statements {
            match &statement.action {
                Action::Send(send) => scopes[0].push(self.scope(&send.channel)?),
                Action::Receive(receive) => scopes[1].push(self.scope(&receive.channel)?),
                _ => {}
            }
        }
        if let Some(trace) = &mut self.code.trace {
            (trace.edges, trace.closing, trace.scopes) = (edges, closing, scopes);
        }
        Ok(())
    }

    fn trace_edge(&mut self, action: &Action, target: u32) -> Result<TraceEdge, Refusal> {
        let (sent, start) = match action {
            Action::Send(send) => {
                let field = |e: &Expr| match e.constant() {
                    Some(_) => Pattern::Match(e.clone()),
                    None => Pattern::Ignore,
                };
                let fields: Vec<Pattern> = send.fields.iter().map(field).collect();
                (Some(true), self.event_pattern(&send.channel, &fields)?)
            }
            Action::Receive(receive) => (Some(false), self.event_pattern(&receive.channel, &receive.fields)?),
            Action::Guard(e) => (None, self.condition(e)?),
            Action::Skip => (None, self.condition(&Expr::Constant(1))?),
            _ => (None, BLOCKED),
        };
        Ok(TraceEdge { sent, start, target })
    }

    fn event_pattern(&mut self, channel: &Expr, fields: &[Pattern]) -> Result<Pc, Refusal> {
        let start = self.here();
        self.value(channel, 0)?;
        self.emit(Instr::UnlessOffered { a: 0, to: BLOCKED });
        let (terms, _) = self.patterns(fields, 0)?;
        let site = self.site(ChannelRef::Current, terms.len(), &terms);
        self.emit(Instr::MatchEvent { site, to: BLOCKED });
        self.emit(Instr::Finish);
        Ok(start)
    }

    /// Code that finishes where the event is one of this channel.
    fn scope(&mut self, channel: &Expr) -> Result<Pc, Refusal> {
        let start = self.here();
        self.value(channel, 0)?;
        self.emit(Instr::UnlessOffered { a: 0, to: BLOCKED });
        self.emit(Instr::Finish);
        Ok(start)
    }
}
