//! Spin as an oracle: what `spin -a`, a C compiler and `pan` say of a model.

use crate::Kind;
use crate::command::{self, Output};
use fabius_needs::spin::{self, AS_WRITTEN, Compiler};
use std::time::Duration;

/// How long `spin` and the compiler may take, and the verifier if nobody says otherwise.
const LIMIT: Duration = Duration::from_secs(120);

/// Spin, and a C compiler for the verifiers it makes.
#[derive(Clone, Debug)]
pub struct Spin {
    compiler: Compiler,
    /// How long a verifier may run.
    limit: Duration,
}

/// What a verifier should do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Question {
    /// With Spin's dataflow, dead-variable and statement-merging optimisations.
    pub optimised: bool,
    /// Go on after the first violation.
    pub keep_going: bool,
    /// Sends to full channels lose their messages (`-m`).
    pub lossy: bool,
    /// Length of the longest path.
    pub depth_max: u32,
}

impl Question {
    /// Every state of the model as it stands.
    pub const ALL_STATES: Self = Self { optimised: false, keep_going: true, lossy: false, depth_max: 100_000 };
}

/// What a verifier should look for in runs without end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InfiniteRun<'a> {
    /// Cycles without progress.
    Progress,
    /// Cycles through acceptance labels, without any claim.
    Acceptance,
    /// Runs that a claim or a formula forbids.
    Claim(&'a str),
}

/// What Spin says of a model.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// `spin -a` does not accept it.
    Rejected {
        /// What it said.
        message: String,
    },
    /// The verifier ran.
    Run(Run),
    /// The verifier could not be made, or did not end in time.
    Unknown {
        /// What happened.
        reason: String,
    },
}

/// What a verifier printed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Run {
    /// The search saw everything.
    pub complete: bool,
    /// How many violations it counted.
    pub errors: u64,
    /// Each different message it printed, in order.
    pub messages: Vec<String>,
    /// "states, stored".
    pub stored: u64,
    /// Transitions, those back to a known state included.
    pub transitions: u64,
}

impl Run {
    /// The kinds of violation, each once, sorted.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = self.messages.iter().map(|message| kind_of(message)).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }

    /// Whether the count of states means the same to both tools. After an evaluation error Spin either
    /// stops or goes on with a made-up value, and after an event that a trace does not allow it goes on as if
    /// nothing had happened, so that its count says nothing.
    pub fn comparable(&self) -> bool {
        self.complete && !self.kinds().iter().any(|kind| matches!(kind, Kind::Evaluation | Kind::Trace))
    }
}

/// Whether a message says that a run without end, or a claim's end, was found.
pub fn is_infinite(message: &str) -> bool {
    ["acceptance cycle", "non-progress cycle", "accept stutter", "end state in claim"]
        .iter()
        .any(|words| message.starts_with(words))
}

/// The kind of violation behind a message of a verifier.
pub fn kind_of(message: &str) -> Kind {
    if message.contains("invalid end state") {
        Kind::InvalidEndState
    } else if message.starts_with("assertion violated") && !message.contains("invalid array index") {
        Kind::Assertion
    } else if message.starts_with("event_trace error") {
        Kind::Trace
    } else {
        Kind::Evaluation
    }
}

impl Spin {
    /// Spin and a compiler, the quick one if there is a choice; if one is missing, the test is skipped.
    pub fn find() -> Option<Self> {
        Some(Self { compiler: *Compiler::all()?.first()?, limit: LIMIT })
    }

    /// The same with another compiler.
    #[must_use]
    pub fn with(self, compiler: Compiler) -> Self {
        Self { compiler, ..self }
    }

    /// The same with another limit on the time of the verifier.
    #[must_use]
    pub fn within(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Asks about a model given as text.
    pub fn ask(&self, model: &str, question: Question) -> Answer {
        self.ask_in_scratch(model, question).unwrap_or_else(|reason| Answer::Unknown { reason })
    }

    /// Asks about runs without end; assertions and end states are left aside. `fair`: only weakly fair ones.
    pub fn ask_infinite(&self, model: &str, question: InfiniteRun<'_>, fair: bool) -> Answer {
        self.infinite_in_scratch(model, question, fair).unwrap_or_else(|reason| Answer::Unknown { reason })
    }

    fn infinite_in_scratch(&self, model: &str, question: InfiniteRun<'_>, fair: bool) -> Result<Answer, String> {
        let (compiling, running): (&[&str], Vec<&str>) = match question {
            InfiniteRun::Progress => (&["-DNP"], vec!["-l"]),
            InfiniteRun::Acceptance => (&["-DNOCLAIM"], vec!["-a"]),
            InfiniteRun::Claim(name) => (&[], vec!["-a", "-N", name]),
        };
        let fairness = if fair { &["-f"][..] } else { &[] };
        let arguments = [&["-A", "-E", "-c0"], &running[..], fairness].concat();
        self.answer(model, Question::ALL_STATES, compiling, &arguments)
    }

    /// What Spin tells when it replays a trail.
    ///
    /// # Errors
    /// Why it does not.
    pub fn replay(&self, model: &str, trail: &str) -> Result<String, String> {
        let folder = spin::Spin::on_text(model).map_err(|e| e.to_string())?;
        let mut replay = folder.replay(trail).map_err(|e| e.to_string())?;
        Ok(command::run(&mut replay, LIMIT).map_err(|e| e.to_string())?.stdout)
    }

    /// Whether `spin -a` accepts a text; what it said, either way.
    ///
    /// # Errors
    /// What it said when it refused.
    pub fn accepts(&self, model: &str) -> Result<String, String> {
        let folder = spin::Spin::on_text(model).map_err(|e| e.to_string())?;
        let generated = generate(&folder, Question::ALL_STATES)?;
        let accepted = folder.is_accepted(&generated);
        let message = generated.stdout + &generated.stderr;
        if accepted { Ok(message) } else { Err(message) }
    }

    fn ask_in_scratch(&self, model: &str, question: Question) -> Result<Answer, String> {
        let going = if question.keep_going { "-c0" } else { "-c1" };
        self.answer(model, question, &["-DSAFETY", "-DNOCLAIM"], &[going])
    }

    fn answer(
        &self,
        model: &str,
        question: Question,
        compiling: &[&str],
        arguments: &[&str],
    ) -> Result<Answer, String> {
        let folder = spin::Spin::on_text(model).map_err(|e| e.to_string())?;
        let generated = generate(&folder, question)?;
        if !folder.is_accepted(&generated) {
            return Ok(Answer::Rejected { message: generated.stdout + &generated.stderr });
        }
        self.compile(&folder, compiling)?;
        self.verify(&folder, question.depth_max, arguments)
    }

    fn compile(&self, folder: &spin::Spin, definitions: &[&str]) -> Result<(), String> {
        let optimise: &[&str] = if self.compiler == Compiler::Gcc { &["-O1"] } else { &[] };
        let flags = [optimise, definitions, &["-DNOREDUCE"]].concat();
        let output = command::run(&mut folder.compile(self.compiler, &flags), LIMIT).map_err(|e| e.to_string())?;
        let program = self.compiler.program();
        if output.success() { Ok(()) } else { Err(format!("{program} rejects the verifier: {}", output.stderr)) }
    }

    fn verify(&self, folder: &spin::Spin, depth_max: u32, arguments: &[&str]) -> Result<Answer, String> {
        let depth = format!("-m{depth_max}");
        let arguments = [&[depth.as_str(), "-w18"], arguments].concat();
        let output = command::run(&mut folder.verify(&arguments), self.limit).map_err(|e| e.to_string())?;
        let Some(status) = output.status else {
            return Ok(Answer::Unknown { reason: "the verifier did not end in time".to_owned() });
        };
        let mut run = read_run(&output.stdout);
        if status.code().is_none() {
            run.complete = false;
            run.errors += 1;
            run.messages.push("the verifier crashed".to_owned());
        }
        Ok(Answer::Run(run))
    }
}

fn generate(folder: &spin::Spin, question: Question) -> Result<Output, String> {
    let written: &[&str] = if question.optimised { &[] } else { &AS_WRITTEN };
    let lossy: &[&str] = if question.lossy { &["-m"] } else { &[] };
    command::run(&mut folder.generate(&[written, lossy].concat()), LIMIT).map_err(|e| e.to_string())
}

/// Reads what a verifier printed.
pub fn read_run(text: &str) -> Run {
    let mut run = Run::default();
    let mut ended = false;
    let mut cut_short = false;
    for line in text.lines().map(str::trim) {
        if let Some(message) = message_of(line) {
            if !run.messages.contains(&message) {
                run.messages.push(message);
            }
        } else if let Some(count) = count_before(line, " states, stored") {
            run.stored = count;
            ended = true;
        } else if line.contains("max search depth too small") || line.contains("Search not completed") {
            cut_short = true;
        } else if let Some((_, errors)) = line.split_once("errors: ") {
            run.errors = errors.trim().parse().unwrap_or(0);
        } else if let Some(count) = line.split_once(" transitions (=").and_then(|(n, _)| n.trim().parse().ok()) {
            run.transitions = count;
        }
    }
    run.complete = ended && !cut_short;
    run
}

/// `pan:1: invalid end state (at depth 7)` says `invalid end state`.
fn message_of(line: &str) -> Option<String> {
    let rest = line.strip_prefix("pan:")?;
    let (number, message) = rest.split_once(": ")?;
    let is_error = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let message = message.rsplit_once(" (at depth").map_or(message, |(message, _)| message);
    is_error.then(|| message.to_owned())
}

fn count_before(line: &str, words: &str) -> Option<u64> {
    let (number, _) = line.split_once(words)?;
    number.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
pan:1: invalid end state (at depth 4)
pan: wrote model.pml.trail
pan:2: assertion violated (x==3) (at depth 9)

State-vector 28 byte, depth reached 12, errors: 2
       14 states, stored
        6 states, matched
       20 transitions (= stored+matched)
        0 atomic steps
";

    #[test]
    fn what_pan_prints_is_read() {
        let run = read_run(PRINTED);
        assert_eq!((run.complete, run.errors, run.stored, run.transitions), (true, 2, 14, 20));
        assert_eq!(run.kinds(), [Kind::Assertion, Kind::InvalidEndState]);
        assert_eq!(run.messages[1], "assertion violated (x==3)");
    }

    #[test]
    fn a_search_that_was_cut_off_is_not_complete() {
        let run = read_run(&format!("error: max search depth too small\n{PRINTED}"));
        assert!(!run.complete);
    }

    #[test]
    fn an_array_index_is_not_an_assertion() {
        assert_eq!(kind_of("assertion violated - invalid array index"), Kind::Evaluation);
    }
}
