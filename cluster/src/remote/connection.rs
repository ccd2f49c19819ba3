//! An encrypted connection between two machines, each of which has proved to the other that it has the same key.
//!
//! ```text
//! dialler → listener:  MAGIC, ephemeral public key, proof of the key
//! listener → dialler:  MAGIC, ephemeral public key, proof of the key
//! from then on, both:  length (2 bytes), sealed frame
//! ```
//!
//! The handshake is `NNpsk0` of the Noise protocol framework (Perrin, revision 34, 2018): ephemeral keys, fresh on both sides, are
//! mixed with the shared key, so a proof is of no use in another connection, and who learns the shared key later cannot read what was
//! sent before. A frame that was changed, left out, repeated, or sent in another connection is not opened.
//!
//! Nothing is acted upon before the handshake is over, at most [`HELLO_BYTES`] are read until then, and it takes at most
//! [`HANDSHAKE_TIME`].

use super::key::Key;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use serde::Serialize;
use serde::de::DeserializeOwned;
use snow::{Builder, HandshakeState, StatelessTransportState};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const PROTOCOL: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
/// So begins what either side sends first; the last byte is the version of this protocol.
const MAGIC: [u8; 8] = *b"fabius\0\x01";
/// A public key and a tag.
const PROOF_BYTES: usize = 32 + TAG_BYTES;
const TAG_BYTES: usize = 16;
/// What either side reads before it knows that the other one has the key.
const HELLO_BYTES: usize = MAGIC.len() + PROOF_BYTES;
/// A sealed frame is not longer than this: a message of the Noise protocol.
const SEALED_BYTES_MAX: usize = 65_535;
/// Bytes that fit into a frame, without its kind.
pub(super) const CONTENT_BYTES_MAX: usize = SEALED_BYTES_MAX - TAG_BYTES - 1;

/// The time to connect.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// The time for a handshake.
pub(super) const HANDSHAKE_TIME: Duration = Duration::from_secs(5);
/// Whoever sends nothing for so long is lost.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(10);

/// What a frame is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Its content goes to whoever the connection is for.
    Data,
    /// A sign of life.
    Beat,
    /// A sentence about what happened.
    Note,
    /// Nothing comes after it.
    End,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Data, Self::Beat, Self::Note, Self::End];
}

/// The sending half of a connection; its clones share it.
#[derive(Clone)]
pub(super) struct Sender {
    stream: Arc<TcpStream>,
    sealing: Arc<Mutex<Sealing>>,
}

struct Sealing {
    state: Arc<StatelessTransportState>,
    /// Frames sent.
    sent: u64,
    plain: Vec<u8>,
    sealed: Vec<u8>,
}

/// The receiving half of a connection.
pub(super) struct Receiver {
    stream: TcpStream,
    state: Arc<StatelessTransportState>,
    /// Frames received.
    received: u64,
    sealed: Vec<u8>,
    plain: Vec<u8>,
}

/// Both halves.
pub(super) type Connection = (Sender, Receiver);

impl Sender {
    /// Sends a frame.
    ///
    /// # Errors
    /// If the connection is gone, or the content too long for a frame.
    pub(super) fn send(&self, kind: Kind, content: &[u8]) -> io::Result<()> {
        if CONTENT_BYTES_MAX < content.len() {
            return Err(io::Error::other("too long for a frame"));
        }
        let mut sealing = self.sealing.lock().unwrap_or_else(PoisonError::into_inner);
        let Sealing { state, sent, plain, sealed } = &mut *sealing;
        plain.clear();
        plain.push(kind as u8);
        plain.extend_from_slice(content);
        sealed.resize(2 + SEALED_BYTES_MAX, 0);
        let length = state.write_message(*sent, plain, &mut sealed[2..]).map_err(io::Error::other)?;
        sealed[..2].copy_from_slice(&(length as u16).to_be_bytes());
        *sent += 1;
        (&*self.stream).write_all(&sealed[..2 + length])
    }

    /// Sends a message that fits into one frame.
    ///
    /// # Errors
    /// If the connection is gone, or the message too long.
    pub(super) fn send_message(&self, message: &impl Serialize) -> io::Result<()> {
        self.send(Kind::Data, &postcard::to_allocvec(message).map_err(io::Error::other)?)
    }

    /// Sends a sentence, if anybody is there to read it.
    pub(super) fn note(&self, sentence: &str) {
        const NOTE_BYTES_MAX: usize = 1024;
        let end = (0..=sentence.len().min(NOTE_BYTES_MAX)).rev().find(|end| sentence.is_char_boundary(*end));
        let _ = self.send(Kind::Note, &sentence.as_bytes()[..end.unwrap_or(0)]);
    }

    /// Closes the connection; whoever is sending or receiving goes on with an error.
    pub(super) fn close(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Receiver {
    /// Waits for a frame: its kind and its content.
    ///
    /// # Errors
    /// If none comes for [`SILENCE_MAX`], or what comes was not sealed by the other side.
    pub(super) fn receive(&mut self) -> io::Result<(Kind, &[u8])> {
        self.receive_within(SILENCE_MAX)
    }

    fn receive_within(&mut self, patience: Duration) -> io::Result<(Kind, &[u8])> {
        self.stream.set_read_timeout(Some(patience))?;
        let mut length = [0; 2];
        self.stream.read_exact(&mut length)?;
        let length = usize::from(u16::from_be_bytes(length));
        self.sealed.resize(length, 0);
        self.stream.read_exact(&mut self.sealed)?;
        self.plain.resize(SEALED_BYTES_MAX, 0);
        let damaged = || io::Error::new(ErrorKind::InvalidData, "what arrived was not sent by the other side");
        let opened = self.state.read_message(self.received, &self.sealed, &mut self.plain).map_err(|_| damaged())?;
        self.received += 1;
        let (kind, content) = self.plain[..opened].split_first().ok_or_else(damaged)?;
        let kind = Kind::ALL.get(usize::from(*kind)).copied().ok_or_else(damaged)?;
        Ok((kind, content))
    }

    /// Waits for a message that fits into one frame.
    ///
    /// # Errors
    /// If none comes in time.
    pub(super) fn receive_message<T: DeserializeOwned>(&mut self, patience: Duration) -> io::Result<T> {
        let unexpected = || io::Error::new(ErrorKind::InvalidData, "the other side sent what is not expected");
        match self.receive_within(patience)? {
            (Kind::Data, content) => postcard::from_bytes(content).map_err(|_| unexpected()),
            _ => Err(unexpected()),
        }
    }

    /// Whether the other side has closed the connection, while nothing is expected from it.
    pub(super) fn is_closed(&self) -> bool {
        let peeked = recv(&self.stream, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        !matches!(peeked, Err(Errno::AGAIN))
    }
}

/// What to say about an error of a connection, in half a sentence.
pub(super) fn sentence(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            format!("no sign of life for {} seconds", SILENCE_MAX.as_secs())
        }
        ErrorKind::UnexpectedEof => "the other side closed it".to_owned(),
        _ => error.to_string(),
    }
}

/// Connects with a listener that has the same key. Without a key, only with one on this machine.
///
/// # Errors
/// Why not, in half a sentence.
pub(super) fn dial(address: &str, key: Option<&Key>) -> Result<Connection, String> {
    let addresses: Vec<SocketAddr> = address.to_socket_addrs().map_err(|error| error.to_string())?.collect();
    if key.is_none() && !addresses.iter().all(|address| address.ip().is_loopback()) {
        return Err("without --key, only this machine is connected with".to_owned());
    }
    let mut last = "the name has no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, CONNECT_TIME) {
            Ok(stream) => return greet(stream, key.unwrap_or(&Key::PUBLIC)),
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                last = format!("it did not answer within {} seconds", CONNECT_TIME.as_secs());
            }
            Err(error) => last = error.to_string(),
        }
    }
    Err(last)
}

/// The handshake of the side that dialled.
fn greet(mut stream: TcpStream, key: &Key) -> Result<Connection, String> {
    let deadline = Instant::now() + HANDSHAKE_TIME;
    let late = || format!("it did not answer within {} seconds", HANDSHAKE_TIME.as_secs());
    let mut state = handshake(key).and_then(Builder::build_initiator).map_err(|error| error.to_string())?;
    let mut hello = MAGIC.to_vec();
    hello.resize(HELLO_BYTES, 0);
    let length = state.write_message(&[], &mut hello[MAGIC.len()..]).map_err(|error| error.to_string())?;
    hello.truncate(MAGIC.len() + length);
    stream.write_all(&hello).map_err(|error| error.to_string())?;
    let mut magic = [0; MAGIC.len()];
    match read_until(&mut stream, &mut magic, deadline) {
        Ok(()) if magic == MAGIC => {}
        Err(error) if error.kind() == ErrorKind::TimedOut => return Err(late()),
        Ok(()) => return Err("what listens there is no `fabius worker` of this version".to_owned()),
        Err(_) => {
            return Err(
                "it closed the connection: it is no `fabius worker` of this version, or has too many connections"
                    .to_owned(),
            );
        }
    }
    let mut proof = [0; PROOF_BYTES];
    match read_until(&mut stream, &mut proof, deadline) {
        Err(error) if error.kind() == ErrorKind::TimedOut => return Err(late()),
        read => read.map_err(|_| "the keys differ".to_owned())?,
    }
    state.read_message(&proof, &mut []).map_err(|_| "the keys differ".to_owned())?;
    connected(stream, state).map_err(|error| error.to_string())
}

/// The handshake of the side that listens.
///
/// # Errors
/// Why it failed, in half a sentence.
pub(super) fn accept(mut stream: TcpStream, key: &Key) -> Result<Connection, String> {
    let deadline = Instant::now() + HANDSHAKE_TIME;
    let unfinished = |error: io::Error| match error.kind() {
        ErrorKind::TimedOut => "the handshake took too long".to_owned(),
        ErrorKind::UnexpectedEof => "the handshake was not finished".to_owned(),
        _ => error.to_string(),
    };
    let mut magic = [0; MAGIC.len()];
    read_until(&mut stream, &mut magic, deadline).map_err(unfinished)?;
    if magic != MAGIC {
        return Err("it does not speak the protocol of this version".to_owned());
    }
    let mut proof = [0; PROOF_BYTES];
    read_until(&mut stream, &mut proof, deadline).map_err(unfinished)?;
    stream.set_write_timeout(Some(HANDSHAKE_TIME)).map_err(|error| error.to_string())?;
    stream.write_all(&MAGIC).map_err(|error| error.to_string())?;
    let mut state = handshake(key).and_then(Builder::build_responder).map_err(|error| error.to_string())?;
    state.read_message(&proof, &mut []).map_err(|_| "it does not have the same key".to_owned())?;
    let length = state.write_message(&[], &mut proof).map_err(|error| error.to_string())?;
    stream.write_all(&proof[..length]).map_err(|error| error.to_string())?;
    connected(stream, state).map_err(|error| error.to_string())
}

fn handshake(key: &Key) -> Result<Builder<'_>, snow::Error> {
    Builder::new(PROTOCOL.parse()?).prologue(&MAGIC)?.psk(0, key.bytes())
}

fn connected(stream: TcpStream, state: HandshakeState) -> io::Result<Connection> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(None)?;
    let state = Arc::new(state.into_stateless_transport_mode().map_err(io::Error::other)?);
    let sealing = Sealing { state: Arc::clone(&state), sent: 0, plain: Vec::new(), sealed: Vec::new() };
    let sender = Sender { stream: Arc::new(stream.try_clone()?), sealing: Arc::new(Mutex::new(sealing)) };
    Ok((sender, Receiver { stream, state, received: 0, sealed: Vec::new(), plain: Vec::new() }))
}

/// Fills the bytes, until a point in time.
fn read_until(stream: &mut TcpStream, mut bytes: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(bytes) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => bytes = &mut bytes[read..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(ErrorKind::TimedOut.into()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
