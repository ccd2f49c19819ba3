//! What the adapter sends: events and answers, as the protocol frames them.

use super::{Answer, Event};
use serde::Serialize;

/// A message of the adapter, without its number.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(crate) enum Message<'a> {
    Event(Event),
    Response(Response<'a>),
}

/// The answer to a request.
#[derive(Debug, Serialize)]
pub(crate) struct Response<'a> {
    /// The number of the request.
    request_seq: i64,
    command: &'a str,
    success: bool,
    /// Why the request is refused, for the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    body: Body,
}

/// What an answer says.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Body {
    Success(Answer),
    Refusal { error: Refusal },
}

/// Why a request is refused, for the user (`Message` in the specification).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Refusal {
    id: i64,
    /// The text, in which braces would stand for variables.
    format: String,
    show_user: bool,
}

impl<'a> Response<'a> {
    /// The answer to the request with this number; an error is a sentence for the user.
    pub(crate) fn new(request_seq: i64, command: &'a str, answer: Result<Answer, String>) -> Self {
        match answer {
            Ok(answer) => Self { request_seq, command, success: true, message: None, body: Body::Success(answer) },
            Err(why) => {
                let format = why.replace('{', "(").replace('}', ")");
                let body = Body::Refusal { error: Refusal { id: 1, format, show_user: true } };
                Self { request_seq, command, success: false, message: Some(why), body }
            }
        }
    }
}
