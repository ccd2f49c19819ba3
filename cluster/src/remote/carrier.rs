//! Carries what is written to a socket of this machine over a connection, and back.

use super::connection::{CONTENT_BYTES_MAX, Kind, Receiver, Sender, sentence};
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Whoever has nothing to send gives a sign of life so often.
const BEAT: Duration = Duration::from_secs(1);

/// Sends what is read from a socket, to its end, with signs of life whenever there is nothing to read.
///
/// # Errors
/// If the connection is gone.
pub(super) fn send_all(mut from: &UnixStream, to: &Sender) -> io::Result<()> {
    from.set_read_timeout(Some(BEAT))?;
    let mut bytes = vec![0; CONTENT_BYTES_MAX];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(read) => to.send(Kind::Data, &bytes[..read])?,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                to.send(Kind::Beat, &[])?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Whoever has the other end is gone.
            Err(_) => return Ok(()),
        }
    }
}

/// Writes what is received to a socket, until the other side ends it; `note` gets the sentences that come in between. What `accepts`
/// refuses is not written. The socket is left open, see [`hang_up`].
///
/// # Errors
/// If the connection is gone, or something else arrives than the other side may send: what happened, in half a sentence.
pub(super) fn receive_all(
    from: &mut Receiver,
    mut to: &UnixStream,
    mut accepts: impl FnMut(&[u8]) -> bool,
    mut note: impl FnMut(String),
) -> Result<(), String> {
    let mut is_read = true;
    loop {
        match from.receive() {
            Ok((Kind::Data, bytes)) => {
                if !accepts(bytes) {
                    return Err("the other side sent what no worker sends".to_owned());
                }
                // If nobody reads it any more, the other side will learn that from what is sent to it.
                is_read = is_read && to.write_all(bytes).is_ok();
            }
            Ok((Kind::Beat, _)) => {}
            Ok((Kind::Note, bytes)) => note(printable(bytes)),
            Ok((Kind::End, _)) => return Ok(()),
            Err(error) => return Err(sentence(&error)),
        }
    }
}

/// Ends a socket as the connection that was written to it ended.
pub(super) fn hang_up(to: &UnixStream, ended: &Result<(), String>) {
    let _ = to.shutdown(if ended.is_ok() { Shutdown::Write } else { Shutdown::Both });
}

/// A text of another machine, without what would disturb a terminal.
fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}
