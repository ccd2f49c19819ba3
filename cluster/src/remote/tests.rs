//! Connections: what passes, and what does not.

use super::connection::{self, CONTENT_BYTES_MAX, Connection, Kind};
use super::key::Key;
use super::request::{Answer, Request};
use super::server::{Server, Terms};
use crate::local::Program;
use fabius_task::VERSION;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// The bytes of a hello, on either side.
const HELLO_BYTES: usize = 56;

fn key(name: &str) -> Key {
    let path: PathBuf = std::env::temp_dir().join(format!("fabius-connection-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    Key::make(&path).expect("a key");
    let key = Key::read(&path).expect("a key");
    std::fs::remove_file(path).expect("removed");
    key
}

/// Pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

/// Both ends of a connection through somebody who may change what passes: `change` gets whether the dialler sent it, its place, and the
/// byte.
fn through(
    (dialler, listener): (&Key, &Key),
    change: impl Fn(bool, usize, u8) -> Option<u8> + Clone + Send + 'static,
) -> (Result<Connection, String>, Result<Connection, String>) {
    let (inner, outer) = (listen(), listen());
    let (inner_address, outer_address) = (address(&inner), address(&outer));
    thread::spawn(move || {
        let (client, _) = outer.accept().expect("a client");
        let server = TcpStream::connect(inner_address).expect("a server");
        pass_on(true, &client, &server, change.clone());
        pass_on(false, &server, &client, change);
    });
    thread::scope(|scope| {
        let accepted = scope.spawn(|| connection::accept(inner.accept().expect("a client").0, listener));
        let dialled = connection::dial(&outer_address, Some(dialler));
        (dialled, accepted.join().expect("no panic"))
    })
}

fn pass_on(
    is_dialler: bool,
    from: &TcpStream,
    to: &TcpStream,
    change: impl Fn(bool, usize, u8) -> Option<u8> + Send + 'static,
) {
    let (mut from, mut to) = (from.try_clone().expect("a handle"), to.try_clone().expect("a handle"));
    thread::spawn(move || {
        let (mut at, mut bytes) = (0, [0; 4096]);
        while let Ok(read @ 1..) = from.read(&mut bytes) {
            let changed: Option<Vec<u8>> =
                bytes[..read].iter().enumerate().map(|(index, byte)| change(is_dialler, at + index, *byte)).collect();
            at += read;
            let sent = changed.and_then(|changed| to.write_all(&changed).ok());
            if sent.is_none() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    });
}

fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").expect("a port")
}

fn address(listener: &TcpListener) -> String {
    listener.local_addr().expect("an address").to_string()
}

#[test]
fn what_is_sent_with_the_same_key_arrives_both_ways() {
    let key = key("same");
    let (one, other) = through((&key, &key), |_, _, byte| Some(byte));
    let (one, other) = (one.expect("connected"), other.expect("connected"));
    let frames: Vec<(Kind, Vec<u8>)> = [0, 1, 100, CONTENT_BYTES_MAX]
        .into_iter()
        .flat_map(|length| {
            [Kind::Data, Kind::Beat, Kind::Note, Kind::End].map(|kind| (kind, vec![length as u8; length]))
        })
        .collect();
    for (sender, mut receiver) in [(one.0, other.1), (other.0, one.1)] {
        for (kind, content) in &frames {
            sender.send(*kind, content).expect("sent");
            assert_eq!(receiver.receive().expect("received"), (*kind, content.as_slice()));
        }
        assert!(sender.send(Kind::Data, &vec![0; CONTENT_BYTES_MAX + 1]).is_err());
    }
}

#[test]
fn different_keys_are_told_apart_by_both_sides() {
    let (one, other) = (key("one"), key("other"));
    for keys in [(&one, &other), (&one, &Key::PUBLIC), (&Key::PUBLIC, &other)] {
        let (dialled, accepted) = through(keys, |_, _, byte| Some(byte));
        assert_eq!(dialled.err().as_deref(), Some("the keys differ"));
        assert_eq!(accepted.err().as_deref(), Some("it does not have the same key"));
    }
}

#[test]
fn a_hello_that_is_changed_or_cut_off_connects_nobody() {
    let key = key("hello");
    for place in 0..HELLO_BYTES {
        for from_dialler in [true, false] {
            let flipped = move |dialler: bool, at: usize, byte: u8| {
                Some(if (dialler, at) == (from_dialler, place) { byte ^ 4 } else { byte })
            };
            let (dialled, _) = through((&key, &key), flipped);
            assert!(dialled.is_err(), "{place} of {from_dialler} was changed");
        }
        let cut = move |dialler: bool, at: usize, byte: u8| (!dialler || at < place).then_some(byte);
        let (dialled, accepted) = through((&key, &key), cut);
        assert!(dialled.is_err() && accepted.is_err(), "cut off after {place}");
    }
}

#[test]
fn a_frame_that_is_changed_is_not_opened() {
    let key = key("frame");
    for place in 0..58 {
        let flipped = move |_: bool, at: usize, byte: u8| Some(if at == HELLO_BYTES + place { byte ^ 1 } else { byte });
        let (one, other) = through((&key, &key), flipped);
        let ((sender, _), (_, mut receiver)) = (one.expect("connected"), other.expect("connected"));
        sender.send(Kind::Data, &[7; 20]).expect("sent");
        sender.send(Kind::End, &[]).expect("sent");
        sender.close();
        let first = receiver.receive().map(|(kind, content)| (kind, content.to_vec()));
        match first {
            // The second one was changed.
            Ok(frame) => {
                assert!(place >= 39, "{place}");
                assert_eq!(frame, (Kind::Data, vec![7; 20]), "{place}");
                assert!(receiver.receive().is_err(), "{place}");
            }
            Err(_) => assert!(place < 39, "{place}"),
        }
    }
}

#[test]
fn bytes_of_strangers_are_turned_away() {
    let key = key("stranger");
    let mut random = Random(7);
    for round in 0..60 {
        let listener = listen();
        let to = address(&listener);
        let mut bytes: Vec<u8> = (0..random.below(200)).map(|_| random.below(256) as u8).collect();
        if round % 3 == 0 && 8 <= bytes.len() {
            bytes[..8].copy_from_slice(b"fabius\0\x01");
        }
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut stream = TcpStream::connect(to).expect("connected");
                let _ = stream.write_all(&bytes);
                let _ = stream.shutdown(Shutdown::Write);
                let _ = stream.read(&mut [0; 100]);
            });
            assert!(connection::accept(listener.accept().expect("a client").0, &key).is_err());
        });
    }
}

#[test]
fn a_listener_of_another_version_is_named_as_such() {
    for hello in [&b"fabius\0\x02"[..], b"HTTP/1.1 400 Bad Request\r\n", b"x", b""] {
        let listener = listen();
        let to = address(&listener);
        let dialled = thread::scope(|scope| {
            scope.spawn(move || {
                let (mut stream, _) = listener.accept().expect("a client");
                let _ = stream.read(&mut [0; HELLO_BYTES]);
                let _ = stream.write_all(hello);
            });
            connection::dial(&to, Some(&Key::PUBLIC))
        });
        let why = dialled.err().expect("not connected");
        assert!(why.contains("no `fabius worker` of this version"), "{why}");
    }
}

#[test]
fn without_a_key_nothing_leaves_the_machine() {
    let why = connection::dial("192.0.2.1:7411", None).err().expect("not connected");
    assert!(why.contains("without --key"), "{why}");
    let terms = Terms { key: None, processes_max: 1, memory_bytes_max: 1 };
    let program = Program::new(PathBuf::from("/bin/false"), &[]);
    let refused = Server::listen("0.0.0.0:0", program, terms, Box::new(|_| ())).err().expect("refused");
    assert!(refused.contains("without a key"), "{refused}");
}

/// A server whose workers are this shell script.
fn server(script: &str) -> String {
    let terms = Terms { key: None, processes_max: 2, memory_bytes_max: 5 };
    let program = Program::new(PathBuf::from("/bin/sh"), &["-c", script]);
    let server = Server::listen("127.0.0.1:0", program, terms, Box::new(|_| ())).expect("a port");
    let address = server.address().expect("an address").to_string();
    thread::spawn(|| server.serve());
    address
}

fn work(address: &str, version: &str, me: u32, count: usize) -> Request {
    Request::Work { version: version.to_owned(), search: [3; 16], me, addresses: vec![address.to_owned(); count] }
}

/// What a server answers.
fn answer(connection: &mut Connection, request: &Request) -> Answer {
    connection.0.send_message(request).expect("sent");
    connection.1.receive_message(Duration::from_secs(60)).expect("an answer")
}

#[test]
fn requests_that_cannot_be_met_are_refused_with_the_reason() {
    let to = server("exit 0");
    for (request, why) in [
        (work(&to, "0.0.0", 0, 1), format!("it has Fabius {VERSION}, and the process that checks has 0.0.0")),
        (work(&to, VERSION, 1, 1), "more than 64".to_owned()),
        (work(&to, VERSION, 1, 65), "more than 64".to_owned()),
        (Request::Join { search: [3; 16], from: 1, to: 0 }, "no worker of this search".to_owned()),
        (Request::Start, "nothing to start".to_owned()),
    ] {
        let mut connection = connection::dial(&to, None).expect("connected");
        match answer(&mut connection, &request) {
            Answer::Refused(told) => assert!(told.contains(&why), "{told}"),
            _ => panic!("not refused: {why}"),
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_ends_with_the_connection_and_the_place_is_free_again() {
    let folder = std::env::temp_dir().join(format!("fabius-server-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let pid = folder.join("pid");
    let to = server(&format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000", pid.display()));
    for _ in 0..2 {
        let mut connection = loop {
            let mut connection = connection::dial(&to, None).expect("connected");
            match answer(&mut connection, &work(&to, VERSION, 0, 1)) {
                Answer::Ready { memory_bytes_max: 5 } => break connection,
                // The worker before is just being ended.
                Answer::Busy(_) => thread::sleep(Duration::from_millis(10)),
                _ => panic!("not ready"),
            }
        };
        let mut other = connection::dial(&to, None).expect("connected");
        let request =
            Request::Work { version: VERSION.to_owned(), search: [4; 16], me: 0, addresses: vec![to.clone()] };
        assert!(matches!(answer(&mut other, &request), Answer::Busy(_)));
        assert!(matches!(answer(&mut connection, &Request::Start), Answer::Done));
        let process = loop {
            match std::fs::read_to_string(&pid) {
                Ok(text) => break text.trim().to_owned(),
                Err(_) => thread::sleep(Duration::from_millis(5)),
            }
        };
        std::fs::remove_file(&pid).expect("removed");
        connection.0.close();
        while std::path::Path::new("/proc").join(&process).exists() {
            thread::sleep(Duration::from_millis(5));
        }
    }
    std::fs::remove_dir_all(folder).expect("removed");
}
