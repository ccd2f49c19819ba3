//! Somebody on the way to a machine, who passes everything on until told otherwise.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const PASS: u8 = 0;
const STALL: u8 = 1;
const CORRUPT: u8 = 2;

/// Listens in the place of a machine.
pub struct Proxy {
    pub address: String,
    shared: Arc<Shared>,
}

struct Shared {
    mode: AtomicU8,
    streams: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// In front of the machine at this address.
    pub fn before(address: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let own = listener.local_addr().expect("an address").to_string();
        let shared = Arc::new(Shared { mode: AtomicU8::new(PASS), streams: Mutex::default() });
        let (there, known) = (address.to_owned(), Arc::clone(&shared));
        thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                let Ok(server) = TcpStream::connect(&there) else { continue };
                let clone = |stream: &TcpStream| stream.try_clone().expect("a handle");
                known.streams.lock().expect("no panic").extend([clone(&client), clone(&server)]);
                for (from, to) in [(clone(&client), clone(&server)), (server, client)] {
                    let shared = Arc::clone(&known);
                    thread::spawn(move || shared.pass_on(from, to));
                }
            }
        });
        Self { address: own, shared }
    }

    /// Closes all connections, once there is one.
    pub fn cut(&self) {
        while self.shared.streams.lock().expect("no panic").is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
        for stream in self.shared.streams.lock().expect("no panic").iter() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Passes nothing on any more.
    pub fn stall(&self) {
        self.shared.mode.store(STALL, Ordering::Relaxed);
    }

    /// Changes a bit of what is passed on next.
    pub fn corrupt(&self) {
        self.shared.mode.store(CORRUPT, Ordering::Relaxed);
    }
}

impl Shared {
    fn pass_on(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut bytes = [0; 1 << 16];
        while let Ok(read @ 1..) = from.read(&mut bytes) {
            while self.mode.load(Ordering::Relaxed) == STALL {
                thread::sleep(Duration::from_millis(20));
            }
            if self.mode.compare_exchange(CORRUPT, PASS, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                bytes[read / 2] ^= 1;
            }
            if to.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
}
