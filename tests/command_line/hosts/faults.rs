//! Whatever is lost while machines search, the report is true, and no worker is left.

use super::proxy::Proxy;
use super::{BOUNDED, COUNTERS, HANGS, Host, check, fabius, hosts, key, model, property, workers};
use crate::workers::{has_begun, signal};
use fabius_testkit::parallel;
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Random faults, unless someone asks for more.
const ROUNDS: u64 = 28;

/// What happens to a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    WorkerKilled,
    WorkerStopped,
    HostKilled,
    HostStopped,
    ConnectionsCut,
    ConnectionsStalled,
    BitChanged,
    CheckKilled,
    CheckStopped,
    CheckInterrupted,
    OtherKey,
    OtherVersion,
    Strangers,
    FullDisk,
}

const FAULTS: [Fault; 14] = [
    Fault::WorkerKilled,
    Fault::WorkerStopped,
    Fault::HostKilled,
    Fault::HostStopped,
    Fault::ConnectionsCut,
    Fault::ConnectionsStalled,
    Fault::BitChanged,
    Fault::CheckKilled,
    Fault::CheckStopped,
    Fault::CheckInterrupted,
    Fault::OtherKey,
    Fault::OtherVersion,
    Fault::Strangers,
    Fault::FullDisk,
];

/// Pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

#[test]
fn whatever_is_lost_the_report_is_true_and_no_worker_is_left() {
    let rounds = std::env::var("FABIUS_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let seeds: Vec<u64> = (0..rounds).collect();
    parallel::map(&seeds, |seed| Round::new(*seed).run());
}

/// A search with a fault.
struct Round {
    random: Random,
    fault: Fault,
    scratch: Scratch,
    key: String,
    machines: Vec<(Host, Proxy)>,
    processes: Vec<usize>,
    /// Which machine the fault is about.
    victim: usize,
    seed: u64,
}

impl Round {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        random.below(2);
        let scratch = Scratch::new().expect("a folder");
        let key = key(&scratch, "key");
        let count = 1 + random.below(3) as usize;
        let machine = |_| {
            let host = Host::start(&key, &["--processes", "2", "--max-memory", "1G"]);
            let proxy = Proxy::before(&host.address);
            (host, proxy)
        };
        let machines: Vec<(Host, Proxy)> = (0..count).map(machine).collect();
        let processes = machines.iter().map(|_| 1 + random.below(2) as usize).collect();
        let victim = random.below(count as u64) as usize;
        let fault = FAULTS[(seed % FAULTS.len() as u64) as usize];
        Self { random, fault, scratch, key, machines, processes, victim, seed }
    }

    fn run(mut self) {
        let said = match self.fault {
            Fault::OtherKey | Fault::OtherVersion => Some(self.cannot_begin()),
            Fault::Strangers => self.strangers(),
            Fault::FullDisk => self.full_disk(),
            _ => self.lost(),
        };
        if let Some(run) = said {
            self.is_true(&run);
        }
        self.leaves_nothing();
    }

    fn hosts(&self) -> String {
        let lines: Vec<(&str, usize)> = self
            .machines
            .iter()
            .zip(&self.processes)
            .map(|((_, proxy), count)| (proxy.address.as_str(), *count))
            .collect();
        hosts(&self.scratch, "hosts", &lines)
    }

    /// A check that does not end by itself, and whose workers are all there, unless it is `early`.
    fn begin(&self, early: bool) -> Child {
        let model = self.scratch.file("m.pml", COUNTERS);
        let asked = ["check", "--no-cache", "--json", "--hosts", &self.hosts(), "--key", &self.key, &model];
        let mut command = fabius(&[&asked[..], &BOUNDED[..]].concat());
        let check = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary runs");
        if early {
            return check;
        }
        let began = Instant::now();
        for ((host, _), count) in self.machines.iter().zip(&self.processes) {
            while workers(host.child.id()).iter().filter(|id| has_begun(id)).count() < *count {
                assert!(began.elapsed() < HANGS, "{}: the workers do not begin", self.seed);
                thread::sleep(Duration::from_millis(5));
            }
        }
        check
    }

    /// Something is lost at any moment of a search; what the check says, if it is still there.
    fn lost(&mut self) -> Option<Run> {
        let early = !needs_worker(self.fault) && self.random.below(3) == 0;
        let mut check = self.begin(early);
        thread::sleep(Duration::from_millis(self.random.below(if early { 80 } else { 700 })));
        let (host, proxy) = &self.machines[self.victim];
        let of_host = workers(host.child.id());
        let worker = *of_host.get(self.random.below(2) as usize).or(of_host.first()).unwrap_or(&check.id());
        match self.fault {
            Fault::WorkerKilled => signal("-KILL", worker),
            Fault::WorkerStopped => signal("-STOP", worker),
            Fault::HostKilled => {
                if self.random.below(2) == 0 && worker != check.id() {
                    signal("-STOP", worker);
                }
                signal("-KILL", host.child.id());
            }
            Fault::HostStopped => signal("-STOP", host.child.id()),
            Fault::ConnectionsCut => proxy.cut(),
            Fault::ConnectionsStalled => proxy.stall(),
            Fault::BitChanged => proxy.corrupt(),
            Fault::CheckInterrupted => signal("-INT", check.id()),
            Fault::CheckKilled => signal("-KILL", check.id()),
            Fault::CheckStopped => {
                signal("-STOP", check.id());
                let rest = self.machines.iter().all(|(host, _)| host.rests());
                assert!(rest, "{}: workers are left of a check that is stopped", self.seed);
                signal("-KILL", check.id());
            }
            Fault::OtherKey | Fault::OtherVersion | Fault::Strangers | Fault::FullDisk => {}
        }
        let began = Instant::now();
        while check.try_wait().expect("a child").is_none() {
            if HANGS < began.elapsed() {
                let _ = check.kill();
                panic!("{}: the check hangs after {:?}", self.seed, self.fault);
            }
            thread::sleep(Duration::from_millis(20));
        }
        let run = Run::from(check.wait_with_output().expect("its output"));
        (!matches!(self.fault, Fault::CheckKilled | Fault::CheckStopped)).then_some(run)
    }

    /// Asks machines of which one cannot take part.
    fn cannot_begin(&mut self) -> Run {
        let mut lines: Vec<(String, usize)> = self
            .machines
            .iter()
            .zip(&self.processes)
            .map(|((_, proxy), count)| (proxy.address.clone(), *count))
            .collect();
        let stranger = match self.fault {
            Fault::OtherKey => {
                let host = Host::start(&key(&self.scratch, "other"), &[]);
                lines.push((host.address.clone(), 1));
                Some(host)
            }
            _ => {
                let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
                lines.push((listener.local_addr().expect("an address").to_string(), 1));
                thread::spawn(move || {
                    let (mut stream, _) = listener.accept().expect("a client");
                    let _ = stream.read(&mut [0; 64]);
                    let _ = stream.write_all(b"fabius\0\xFF");
                });
                None
            }
        };
        let lines: Vec<(&str, usize)> = lines.iter().map(|(address, count)| (address.as_str(), *count)).collect();
        let file = hosts(&self.scratch, "hosts", &lines);
        let run = check(&["--json", "--hosts", &file, "--key", &self.key, &model("leader")]);
        let (reason, address) = (reason(&run), lines[lines.len() - 1].0);
        let why = if stranger.is_some() { "the keys differ" } else { "no `fabius worker` of this version" };
        assert!(reason.contains(&format!("cannot be started: {address}: ")) && reason.contains(why), "{reason}");
        run
    }

    /// Whoever has no key changes nothing, however he behaves.
    fn strangers(&mut self) -> Option<Run> {
        let (host, _) = &self.machines[self.victim];
        let mut open = Vec::new();
        for _ in 0..12 {
            let mut stream = TcpStream::connect(&host.address).expect("connected");
            let mut hello = b"fabius\0\x01".to_vec();
            hello.resize(56, 7);
            hello.truncate(self.random.below(60) as usize);
            let _ = stream.write_all(&hello);
            open.extend((self.random.below(2) == 0).then_some(stream));
        }
        self.is_well(&(0..self.machines.len()).collect::<Vec<_>>());
        None
    }

    /// A report that cannot be written is no result.
    fn full_disk(&mut self) -> Option<Run> {
        let mut command =
            fabius(&["check", "--no-cache", "--json", "--hosts", &self.hosts(), "--key", &self.key, &model("leader")]);
        let full = File::create("/dev/full").expect("a full device");
        let run = Run::from(command.stdout(full).stderr(Stdio::piped()).output().expect("the binary runs"));
        assert_eq!(run.code, 3, "{run:?}");
        assert!(run.err.contains("cannot be written"), "{run:?}");
        None
    }

    /// What is said after a fault: nothing is decided, and it is named what was lost.
    fn is_true(&self, run: &Run) {
        let (seed, fault) = (self.seed, self.fault);
        let property = property(run);
        assert_eq!((run.code, &property["verdict"]), (2, &Value::from("undecided")), "{seed}, {fault:?}: {run:?}");
        assert_eq!(property["exhaustive"], false, "{seed}, {fault:?}: {run:?}");
        let reason = reason(run);
        assert!(reason.contains("this is not a proof"), "{seed}, {fault:?}: {reason}");
        let address = &self.machines[self.victim].1.address;
        let names = |words: &[&str]| {
            let named = reason.contains(&format!("(on {address})")) && words.iter().any(|word| reason.contains(word));
            // Whoever asks first learns it.
            let named = named || !needs_worker(fault) && reason.contains("cannot be started: 127.0.0.1:");
            assert!(named && property["stopped"] == "worker_lost", "{seed}, {fault:?}, {address}: {reason}");
        };
        match fault {
            Fault::WorkerKilled => names(&["was ended by signal 9"]),
            Fault::WorkerStopped => names(&["did not answer for 10 seconds"]),
            Fault::HostKilled => names(&["the connection was lost"]),
            Fault::HostStopped => names(&["did not answer for 10 seconds", "no sign of life for 10 seconds"]),
            Fault::ConnectionsCut => names(&["lost the connection", "the connection was lost"]),
            // Whoever notices first names the other side.
            Fault::ConnectionsStalled | Fault::BitChanged => {
                let named = reason.contains("(on 127.0.0.1:") || reason.contains("cannot be started: 127.0.0.1:");
                assert!(named && property["stopped"] == "worker_lost", "{seed}: {reason}");
            }
            Fault::CheckInterrupted => assert_eq!(property["stopped"], "cancelled", "{seed}: {reason}"),
            _ => {}
        }
    }

    /// No worker is left, and the machines that are there take part in the next search.
    fn leaves_nothing(&self) {
        if self.fault == Fault::HostStopped {
            signal("-CONT", self.machines[self.victim].0.child.id());
        }
        let is_there = |index: &usize| self.fault != Fault::HostKilled || *index != self.victim;
        let there: Vec<usize> = (0..self.machines.len()).filter(is_there).collect();
        for index in &there {
            assert!(self.machines[*index].0.rests(), "{}, {:?}: workers are left", self.seed, self.fault);
        }
        self.is_well(&there);
    }

    /// These machines search as if nothing had happened.
    fn is_well(&self, machines: &[usize]) {
        if machines.is_empty() {
            return;
        }
        let lines: Vec<(&str, usize)> =
            machines.iter().map(|index| (self.machines[*index].0.address.as_str(), 1)).collect();
        let file = hosts(&self.scratch, "well", &lines);
        let run = check(&["--json", "--hosts", &file, "--key", &self.key, "--property", "safety", &model("leader")]);
        let property = property(&run);
        let told = (run.code, &property["verdict"], &property["states"]);
        assert_eq!(told, (0, &Value::from("holds"), &Value::from(357)), "{}, {:?}: {run:?}", self.seed, self.fault);
    }
}

/// Whether it is about workers that are there.
fn needs_worker(fault: Fault) -> bool {
    matches!(fault, Fault::WorkerKilled | Fault::WorkerStopped | Fault::CheckInterrupted)
}

fn reason(run: &Run) -> String {
    property(run)["reason"].as_str().expect("a reason").to_owned()
}
