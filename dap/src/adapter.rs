//! The life of a session: one message after the other, and a run in between.

use crate::answers;
use crate::debuggee::{Debuggee, Moved};
use crate::launch::{Checked, Launch, Model, Opened};
use crate::points::{Hit, Points};
use crate::protocol::{
    Answer, EvaluateArguments, EvaluateContext, Evaluation, Event, InitializeArguments, InvalidatedArea, Output,
    OutputCategory, Place, Position, Request, RestartArguments, StartMethod, StepInArguments, StopReason, Stopped,
    ThreadReason,
};
use crate::repl;
use crate::run::{Halt, OutputLine, Run, RunUntil};
use crate::show;
use crate::wire::{Incoming, RequestId, Writer};
use fabius_base::Cancel;
use fabius_explore::{Exploration, Until};
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};

/// One client, and what it debugs.
pub(crate) struct Adapter<W> {
    out: Writer<W>,
    sender: Sender<Incoming>,
    initialized: bool,
    configured: bool,
    /// A model that is being opened.
    opening: Option<Opening>,
    debuggee: Option<Debuggee>,
    run: Option<Run>,
    attempts: u64,
    /// The threads that the client knows.
    threads: Vec<u8>,
    client_refreshes: bool,
}

/// A model that is being opened.
struct Opening {
    /// The request to be answered.
    id: RequestId,
    /// A model was open before.
    again: bool,
    attempt: u64,
    cancel: Cancel,
    /// Nothing is left to be checked.
    ready: bool,
}

/// Whether the session goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    On,
    /// It ended as it should.
    Over,
}

impl<W: Write> Adapter<W> {
    pub(crate) fn new(out: Writer<W>, sender: Sender<Incoming>) -> Self {
        Self {
            out,
            sender,
            initialized: false,
            configured: false,
            opening: None,
            debuggee: None,
            run: None,
            attempts: 0,
            threads: Vec::new(),
            client_refreshes: false,
        }
    }

    /// Serves until the client says goodbye (true) or goes away (false).
    pub(crate) fn serve(&mut self, inbox: &Receiver<Incoming>) -> bool {
        loop {
            let message = if self.run.is_some() {
                match inbox.try_recv() {
                    Ok(message) => message,
                    Err(TryRecvError::Disconnected) => return false,
                    Err(TryRecvError::Empty) => {
                        self.go_on();
                        continue;
                    }
                }
            } else {
                match inbox.recv() {
                    Ok(message) => message,
                    Err(_) => return false,
                }
            };
            match message {
                Incoming::Request(id, request) => {
                    if self.request(&id, *request) == Goes::Over {
                        return true;
                    }
                }
                Incoming::Garbage(why) => self.tell(OutputCategory::Important, &why),
                Incoming::Opened(opened) => self.opened(*opened),
                Incoming::Checked(checked) => self.checked(*checked),
                Incoming::End => {
                    self.cancel();
                    return false;
                }
            }
        }
    }

    fn request(&mut self, id: &RequestId, request: Result<Request, String>) -> Goes {
        match request {
            Ok(Request::Initialize(_)) if self.initialized => self.refuse(id, "this session is initialized already"),
            Ok(Request::Initialize(arguments)) => self.initialize(id, &arguments),
            Ok(Request::Disconnect) => {
                self.cancel();
                self.done(id);
                return Goes::Over;
            }
            Ok(_) if !self.initialized => self.refuse(id, "the first request is `initialize`"),
            Ok(Request::Launch(launch)) => self.launch(id, launch, false),
            Ok(Request::Restart(arguments)) => self.restart(id, arguments),
            Ok(Request::Attach) => self.refuse(id, "a model is launched, there is nothing to attach to"),
            Ok(Request::Cancel) => self.done(id),
            Ok(Request::ConfigurationDone) => {
                self.configured = true;
                self.done(id);
                self.begin_if_ready();
            }
            Ok(Request::Terminate) => {
                self.cancel();
                (self.run, self.debuggee) = (None, None);
                self.done(id);
                self.out.event(Event::Terminated {});
            }
            Ok(request) => self.on_debuggee(id, &request),
            Err(why) => self.refuse(id, &why),
        }
        Goes::On
    }

    fn refuse(&mut self, id: &RequestId, why: &str) {
        self.out.answer(id, Err(why.to_owned()));
    }

    fn done(&mut self, id: &RequestId) {
        self.out.answer(id, Ok(Answer::Done {}));
    }

    fn initialize(&mut self, id: &RequestId, arguments: &InitializeArguments) {
        self.initialized = true;
        self.client_refreshes = arguments.supports_invalidated_event == Some(true);
        self.out.answer(id, Ok(Answer::Capabilities(Box::new(answers::capabilities()))));
    }

    // ---- opening ----

    /// Opens a model, for the first time or again.
    fn launch(&mut self, id: &RequestId, launch: Launch, again: bool) {
        self.cancel();
        self.run = None;
        if let Err(why) = self.open(launch, id, again) {
            self.debuggee = None;
            self.out.answer(id, Err(why));
        }
    }

    /// Launches again: the same model as before unless another one is given.
    fn restart(&mut self, id: &RequestId, arguments: RestartArguments) {
        let given = arguments.arguments.unwrap_or_default();
        let old = self.debuggee.as_ref().map(|debuggee| debuggee.launch.clone());
        let launch = if given.program.as_os_str().is_empty() { old.unwrap_or(given) } else { given };
        self.launch(id, launch, true);
    }

    fn open(&mut self, launch: Launch, id: &RequestId, again: bool) -> Result<(), String> {
        let program = std::path::absolute(&launch.program).unwrap_or_else(|_| launch.program.clone());
        let (defines, fairness) = fabius_project::for_debugger(&program)?;
        let launch = Launch { program, fairness, ..launch };
        launch.way()?;
        self.attempts += 1;
        let cancel = Cancel::new();
        launch.begin(defines, self.attempts, &cancel, self.sender.clone())?;
        self.opening = Some(Opening { id: id.clone(), again, attempt: self.attempts, cancel, ready: false });
        Ok(())
    }

    /// A model was read and opened, or not.
    fn opened(&mut self, opened: Opened) {
        let Opened { attempt, launch, found } = opened;
        let Some(opening) = self.opening.as_ref().filter(|opening| opening.attempt == attempt) else { return };
        let (id, again) = (opening.id.clone(), opening.again);
        match found.and_then(|model| self.prepare(launch, model)) {
            Ok(()) => {
                if !again {
                    self.out.event(Event::Initialized {});
                }
                self.begin_if_ready();
            }
            Err(why) => {
                (self.opening, self.debuggee) = (None, None);
                self.out.answer(&id, Err(why));
            }
        }
    }

    /// Takes the model, and checks it first if the run to begin with has to be found.
    fn prepare(&mut self, launch: Launch, model: Model) -> Result<(), String> {
        let Model { loaded, exploration, reopened } = model;
        for note in &reopened.remarks {
            self.tell(OutputCategory::Important, note);
        }
        let Some(opening) = &mut self.opening else { return Ok(()) };
        opening.ready = !launch.needs_check();
        if !opening.ready {
            launch.check(&loaded, opening.attempt, &opening.cancel, self.sender.clone())?;
        }
        let way = launch.way()?;
        let mut points = self.debuggee.take().map_or_else(Points::new, |debuggee| debuggee.points);
        points.reopen(&exploration);
        self.debuggee = Some(Debuggee::new(exploration, launch, points, way));
        Ok(())
    }

    /// A check has ended.
    fn checked(&mut self, checked: Checked) {
        let Some(opening) = self.opening.as_mut().filter(|opening| opening.attempt == checked.attempt) else { return };
        match checked.opened {
            Ok(exploration) => {
                opening.ready = true;
                if let Some(debuggee) = &mut self.debuggee {
                    debuggee.points.reopen(&exploration);
                    debuggee.e = exploration;
                }
                self.begin_if_ready();
            }
            Err(why) => {
                let id = opening.id.clone();
                (self.opening, self.debuggee) = (None, None);
                self.out.answer(&id, Err(why));
                self.out.event(Event::Terminated {});
            }
        }
    }

    /// Begins once the model is open and the client has said everything.
    fn begin_if_ready(&mut self) {
        if !self.configured || !self.opening.as_ref().is_some_and(|opening| opening.ready) {
            return;
        }
        let (Some(opening), Some(debuggee)) = (self.opening.take(), &mut self.debuggee) else { return };
        self.out.answer(&opening.id, Ok(Answer::Done {}));
        debuggee.settle();
        debuggee.points.begin();
        let name = debuggee.launch.program.display().to_string();
        self.out.event(Event::Process { name, start_method: StartMethod::Launch, is_local_process: true });
        let stays = debuggee.launch.stop_on_entry.unwrap_or(true) && !debuggee.launch.no_debug;
        if stays {
            let pid = show::focus(&debuggee.e);
            self.stopped(StopReason::Entry, "the initial state", pid, &[]);
        } else {
            self.new_threads();
            self.run = Some(Run::new(true, RunUntil::Stopped));
        }
    }

    fn cancel(&mut self) {
        if let Some(opening) = self.opening.take() {
            opening.cancel.cancel();
            self.refuse(&opening.id, "it was interrupted");
        }
    }

    // ---- what needs a model ----

    fn on_debuggee(&mut self, id: &RequestId, request: &Request) {
        let Some(debuggee) = &mut self.debuggee else {
            return match request {
                Request::Threads => self.out.answer(id, Ok(Answer::Threads { threads: Vec::new() })),
                _ => self.refuse(id, "no model is being debugged"),
            };
        };
        if self.run.is_some() || self.opening.is_some() {
            if matches!(request, Request::Pause(_)) && self.run.is_some() {
                return self.pause(id);
            }
            if !request.is_answered_while_running() {
                return self.refuse(id, "the model is running: pause it first");
            }
        }
        if let Request::Evaluate(arguments) = request
            && arguments.context == EvaluateContext::Repl
        {
            return self.repl(id, arguments);
        }
        match answers::answer(debuggee, request) {
            Some(answer) => {
                let held = matches!(answer, Ok(Answer::Held(_)));
                self.out.answer(id, answer);
                if held {
                    self.refresh(vec![InvalidatedArea::Threads]);
                }
            }
            None => self.drive(id, request),
        }
    }

    /// Requests that move.
    fn drive(&mut self, id: &RequestId, request: &Request) {
        let pid = |thread: Option<i64>| thread.and_then(show::pid_of);
        match request {
            Request::Continue => {
                self.out.answer(id, Ok(Answer::Continued { all_threads_continued: true }));
                self.run = Some(Run::new(true, RunUntil::Stopped));
            }
            Request::ReverseContinue => {
                self.done(id);
                self.run = Some(Run::new(false, RunUntil::Stopped));
            }
            Request::StepOut(arguments) => {
                self.done(id);
                let Some(debuggee) = &self.debuggee else { return };
                let pid = pid(arguments.thread_id).unwrap_or_else(|| show::focus(&debuggee.e));
                let depth = show::inline_depth(&debuggee.e, pid);
                self.run = Some(Run::new(true, RunUntil::Out { pid, depth }));
            }
            Request::Next(arguments) => {
                self.done(id);
                self.one(|debuggee| debuggee.forward_of(pid(arguments.thread_id)), true);
            }
            Request::StepIn(arguments) => self.step_in(id, arguments),
            Request::StepBack => {
                self.done(id);
                self.one(Debuggee::back, false);
            }
            Request::Pause(arguments) => self.hold_instead(id, pid(arguments.thread_id)),
            Request::Jump(params) => self.jump(id, params.step),
            Request::Goto(arguments) => {
                let step = arguments.target_id.and_then(|target| usize::try_from(target.checked_sub(1)?).ok());
                self.jump(id, step);
            }
            _ => {
                let name: String = id.command.chars().take(80).collect();
                self.refuse(id, &format!("unknown request `{name}`"));
            }
        }
    }

    /// One step, at once.
    fn one(&mut self, step: impl FnOnce(&mut Debuggee) -> Moved, forward: bool) {
        let Some(debuggee) = &mut self.debuggee else { return };
        let mut told = Vec::new();
        let halt = match step(debuggee) {
            Moved::No(stop) => Halt::End(stop),
            Moved::Step if forward => {
                Run::new(true, RunUntil::Stopped).tell(debuggee, &mut told);
                debuggee.error().map_or(Halt::End(fabius_explore::Stop::Steps), Halt::ErrorSeen)
            }
            Moved::Step => Halt::End(fabius_explore::Stop::Steps),
        };
        self.tell_all(told);
        self.halt(halt);
    }

    fn step_in(&mut self, id: &RequestId, arguments: &StepInArguments) {
        let pid = arguments.thread_id.and_then(show::pid_of);
        let Some(debuggee) = &mut self.debuggee else { return };
        let Some(target) = arguments.target_id else {
            self.done(id);
            return self.one(|debuggee| debuggee.forward_of(pid), true);
        };
        let index = usize::try_from(target).ok().and_then(|target| target.checked_sub(1));
        let chosen = index.and_then(|index| debuggee.e.choices().into_iter().nth(index));
        let Some(chosen) = chosen else { return self.refuse(id, "there is no such choice any more") };
        self.done(id);
        self.one(
            move |debuggee| match debuggee.e.choose(&chosen) {
                Ok(_) => {
                    debuggee.settle();
                    Moved::Step
                }
                Err(_) => Moved::No(fabius_explore::Stop::End),
            },
            true,
        );
    }

    /// While everything stands still, pausing a thread holds its process (or releases it).
    fn hold_instead(&mut self, id: &RequestId, pid: Option<u8>) {
        let Some(debuggee) = &mut self.debuggee else { return };
        let pid = pid.unwrap_or_else(|| show::focus(&debuggee.e));
        let e: &mut Exploration = &mut debuggee.e;
        let done = if e.release(pid) { Ok(()) } else { e.hold(pid, Until::Released) };
        let told = if e.hold_on(pid).is_some() { "is held" } else { "is not held any more" };
        let name = e.process_name(pid);
        let focus = show::focus(e);
        match done {
            Ok(()) => {
                self.done(id);
                self.tell(OutputCategory::Console, &format!("{name} {told}"));
                self.stopped(StopReason::Pause, &format!("{name} {told}"), focus, &[]);
            }
            Err(why) => self.refuse(id, &why),
        }
    }

    fn jump(&mut self, id: &RequestId, step: Option<usize>) {
        let Some(debuggee) = &mut self.debuggee else { return };
        let Some(step) = step else { return self.refuse(id, "the step is missing: a number from 0") };
        match repl::jump(debuggee, &step.to_string()) {
            Ok(_) => {
                debuggee.settle();
                let at = debuggee.e.number(debuggee.e.here());
                let pid = show::focus(&debuggee.e);
                debuggee.error = show::error(&debuggee.e);
                self.out.answer(id, Ok(Answer::Position(Position { step: at })));
                self.stopped(StopReason::Goto, &format!("after step {at}"), pid, &[]);
            }
            Err(why) => self.refuse(id, &why),
        }
    }

    fn repl(&mut self, id: &RequestId, args: &EvaluateArguments) {
        let Some(debuggee) = &mut self.debuggee else { return };
        let Some(done) = repl::command(debuggee, &args.expression) else {
            let answer = answers::evaluate(debuggee, args);
            let answer =
                answer.map(Answer::Evaluation).map_err(|why| repl::neither(&debuggee.e, &args.expression, why));
            return self.out.answer(id, answer);
        };
        let changed = done.as_ref().is_ok_and(|done| done.changed);
        let pid = show::focus(&debuggee.e);
        debuggee.error = show::error(&debuggee.e);
        self.out.answer(id, done.map(|done| Answer::Evaluation(Evaluation::text(done.text))));
        if changed {
            self.stopped(StopReason::Goto, "", pid, &[]);
        }
    }

    // ---- running ----

    /// Goes on with the run for a while.
    fn go_on(&mut self) {
        let (Some(run), Some(debuggee)) = (&mut self.run, &mut self.debuggee) else {
            self.run = None;
            return;
        };
        let mut told = Vec::new();
        let halt = run.stretch(debuggee, &mut told);
        self.tell_all(told);
        if let Some(halt) = halt {
            self.run = None;
            self.halt(halt);
        }
    }

    fn pause(&mut self, id: &RequestId) {
        self.run = None;
        self.done(id);
        let pid = self.debuggee.as_ref().map_or(0, |debuggee| show::focus(&debuggee.e));
        self.stopped(StopReason::Pause, "", pid, &[]);
    }

    /// The run has stopped.
    fn halt(&mut self, halt: Halt) {
        let Some(debuggee) = &mut self.debuggee else { return };
        let focus = show::focus(&debuggee.e);
        debuggee.error = match &halt {
            Halt::ErrorSeen(error) => Some(error.clone()),
            _ => None,
        };
        let ends = debuggee.launch.no_debug && !matches!(halt, Halt::Hit(_));
        match halt {
            Halt::Hit(Hit { reason, ids, pid, text }) => self.stopped(reason, &text, pid.unwrap_or(focus), &ids),
            Halt::ErrorSeen(error) => {
                for sentence in &error.sentences {
                    self.tell(OutputCategory::Console, sentence);
                }
                self.stopped(StopReason::Exception, &error.headline, error.pid.unwrap_or(focus), &[]);
            }
            Halt::End(fabius_explore::Stop::Steps | fabius_explore::Stop::Reached) => {
                self.stopped(StopReason::Step, "", focus, &[]);
            }
            Halt::End(stop) => {
                self.tell(OutputCategory::Console, stop.sentence());
                self.stopped(StopReason::Step, stop.sentence(), focus, &[]);
            }
        }
        if ends {
            self.out.event(Event::Terminated {});
        }
    }

    /// Tells the client that everything stands still, and where.
    fn stopped(&mut self, reason: StopReason, text: &str, pid: u8, ids: &[i64]) {
        self.new_threads();
        let Some(debuggee) = &mut self.debuggee else { return };
        debuggee.references.clear();
        let text = Some(text).filter(|text| !text.is_empty());
        let description = text.map(|text| if reason == StopReason::Exception { "Paused on an error" } else { text });
        let e = &debuggee.e;
        let (file, line) = show::whereabouts(e);
        let of = e.line().last().map_or(0, |tip| e.number(*tip));
        let place = Place { step: e.number(e.here()), of, file, line, parts: show::false_parts(e) };
        self.out.event(Event::Stopped(Stopped {
            reason,
            description: description.map(str::to_owned),
            thread_id: show::thread_of(pid),
            text: text.map(str::to_owned),
            all_threads_stopped: true,
            hit_breakpoint_ids: ids.to_vec(),
        }));
        self.out.event(Event::At(place));
    }

    /// Tells of processes that have begun or ended.
    fn new_threads(&mut self) {
        let Some(debuggee) = &self.debuggee else { return };
        let count = debuggee.e.state().processes.len();
        let now: Vec<u8> = (0..count).map(|pid| pid as u8).collect();
        let before = std::mem::replace(&mut self.threads, now.clone());
        let mut tell = |pid: u8, reason| self.out.event(Event::Thread { reason, thread_id: show::thread_of(pid) });
        before.iter().filter(|pid| !now.contains(pid)).for_each(|pid| tell(*pid, ThreadReason::Exited));
        now.iter().filter(|pid| !before.contains(pid)).for_each(|pid| tell(*pid, ThreadReason::Started));
    }

    fn refresh(&mut self, areas: Vec<InvalidatedArea>) {
        if self.client_refreshes {
            self.out.event(Event::Invalidated { areas });
        }
    }

    fn tell(&mut self, category: OutputCategory, text: &str) {
        let output = format!("{text}\n");
        self.out.event(Event::Output(Output { category, output, source: None, line: None, column: None }));
    }

    fn tell_all(&mut self, told: Vec<OutputLine>) {
        for OutputLine { category, text, span } in told {
            let end = if category == OutputCategory::Stdout { "" } else { "\n" };
            let output = format!("{text}{end}");
            let mut output = Output { category, output, source: None, line: None, column: None };
            if let (Some(span), Some(debuggee)) = (span, &self.debuggee) {
                let map = &debuggee.e.loaded().map;
                let shown = map.user_span(span);
                let (line, column) = map.line_column(shown.file, shown.start);
                output.source = Some(show::source(&map.file(shown.file).name));
                (output.line, output.column) = (Some(line), Some(column));
            }
            self.out.event(Event::Output(output));
        }
    }
}
