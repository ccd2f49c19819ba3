//! Runs a program with a limit on its time, and says what it printed and how it ended.

use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What a program printed, and how it ended.
#[derive(Debug)]
pub struct Output {
    /// `None` if it was killed because its time was over.
    pub status: Option<ExitStatus>,
    /// What it wrote to standard output; bytes that are not UTF-8 are replaced.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// Time on the wall.
    pub elapsed: Duration,
}

impl Output {
    /// Whether it ended by itself with exit code 0.
    pub fn success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// The exit code, if it ended by itself and by no signal.
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }
}

/// Runs `command` to its end, or kills it after `limit`.
///
/// # Errors
/// When the program cannot be started or waited for.
pub fn run(command: &mut Command, limit: Duration) -> io::Result<Output> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let mut pause = Duration::from_micros(200);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    let text =
        |reader: thread::JoinHandle<Vec<u8>>| String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned();
    Ok(Output { status, stdout: text(stdout), stderr: text(stderr), elapsed: start.elapsed() })
}

/// Reads a pipe to its end on a thread of its own, so that the program never waits for us.
fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_and_the_code_arrive() {
        let output = run(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]), Duration::from_secs(10))
            .expect("it runs");
        assert_eq!((output.stdout.as_str(), output.stderr.as_str(), output.code()), ("out\n", "err\n", Some(3)));
    }

    #[test]
    fn a_program_that_takes_too_long_is_killed() {
        let output = run(Command::new("sleep").arg("30"), Duration::from_millis(50)).expect("it runs");
        assert!(output.status.is_none() && output.elapsed < Duration::from_secs(20));
    }
}
