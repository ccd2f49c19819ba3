//! Channels that lose messages, if a comment says so: what `spin -m` does.
//!
//! ```promela
//! /*@ lossy */
//! ```

use crate::pragma::{Pragma, pragmas};
use fabius_base::{Code, Finding, SourceMap, Span};
use fabius_language::Lowered;
use fabius_program::lossy::{NotLossy, lossy};

/// Where the text says that channels lose messages, and what is wrong with such comments.
fn annotations(map: &SourceMap, inactive: &[Span]) -> (Option<Span>, Vec<Finding>) {
    let (mut found, mut findings) = (None, Vec::new());
    for (file, source) in map.files() {
        for Pragma { span, words } in pragmas(file, &source.text, inactive) {
            match words.trim().strip_prefix("lossy") {
                Some("") => found = found.or(Some(span)),
                Some(rest) if rest.starts_with(char::is_whitespace) => {
                    let why =
                        format!("nothing can stand behind `lossy`, which is about all channels: `{}`", rest.trim());
                    findings.push(wrong().at(span, why));
                }
                _ => {}
            }
        }
    }
    (found, findings)
}

fn wrong() -> Finding {
    Finding::new(Code::BadLossy, "invalid `lossy` annotation")
}

/// The program of a text, with channels that lose messages if the text says so.
pub(crate) fn with_losses(mut lowered: Lowered, map: &SourceMap, inactive: &[Span]) -> Lowered {
    let (annotation, findings) = annotations(map, inactive);
    if !findings.is_empty() {
        lowered.program = None;
        lowered.findings.extend(findings);
    }
    let (Some(annotation), Some(program)) = (annotation, &lowered.program) else { return lowered };
    match lossy(program) {
        Ok(Some(made)) => {
            lowered.findings.push(
                Finding::new(Code::MessagesLost, "messages to full channels are lost")
                    .at(annotation, "")
                    .note("a send to a full channel does not wait; Spin does the same with `spin -m`"),
            );
            lowered.program = Some(made.program);
        }
        Ok(None) => lowered.findings.push(
            Finding::new(Code::MessagesLost, "no message is lost: nothing is sent to a channel that can be full")
                .at(annotation, ""),
        ),
        Err(why) => {
            let (span, reason) = match why {
                NotLossy::CreatesProcess(span) => {
                    (span, "a process is created in this send, also if the message is lost")
                }
                NotLossy::HasTrace(span) => {
                    (span, "it is not defined whether a message that is lost is an event of this")
                }
            };
            lowered.program = None;
            lowered.findings.push(wrong().at(span, reason).at(annotation, "messages are to be lost"));
        }
    }
    lowered
}
