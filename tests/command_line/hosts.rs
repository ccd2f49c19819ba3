//! `fabius worker --listen` and `check --hosts`: searches by several machines, which are all this one here.
//!
//! `FABIUS_ROUNDS=n` says how many random faults there are.

mod faults;
mod namespaces;
mod proxy;

use super::processes::{BOUNDED, COUNTERS};
use super::workers::{are_gone, workers};
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Nothing in here takes so long on any machine, unless it hangs.
const HANGS: Duration = Duration::from_secs(200);

fn fabius(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.args(args).env("FABIUS_CACHE", "off").stdin(Stdio::null());
    command
}

fn run(args: &[&str]) -> Run {
    Run::from(fabius(args).output().expect("the binary runs"))
}

/// A new key in a folder.
fn key(scratch: &Scratch, name: &str) -> String {
    let path = scratch.path().join(name).display().to_string();
    run(&["worker", "--make-key", &path]).expect(0);
    path
}

/// A machine that waits for searches, until it is dropped.
struct Host {
    child: Child,
    address: String,
}

impl Host {
    fn start(key: &str, flags: &[&str]) -> Self {
        Self::by(fabius(&[&["worker", "--listen", "127.0.0.1:0", "--key", key], flags].concat()))
    }

    /// Started by this command.
    fn by(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary runs");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let first = lines.next().expect("a line").expect("text");
        let words = first.strip_prefix("listening at ").expect("it listens");
        let address = words.split(',').next().expect("an address").to_owned();
        thread::spawn(move || lines.count());
        Self { child, address }
    }

    /// Waits until none of its workers is left.
    fn rests(&self) -> bool {
        let began = Instant::now();
        while !workers(self.child.id()).is_empty() {
            if HANGS < began.elapsed() {
                return false;
            }
            thread::sleep(Duration::from_millis(20));
        }
        true
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let left = workers(self.child.id());
        let _ = self.child.kill();
        let _ = self.child.wait();
        let began = Instant::now();
        while !are_gone(&left) {
            assert!(began.elapsed() < HANGS, "a worker outlives its machine");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A file that names machines, with a number of processes for each.
fn hosts(scratch: &Scratch, name: &str, hosts: &[(&str, usize)]) -> String {
    let lines: String = hosts.iter().map(|(address, processes)| format!("{address} processes={processes}\n")).collect();
    scratch.file(name, &lines)
}

fn check(args: &[&str]) -> Run {
    run(&[&["check", "--no-cache", "--color", "never"], args].concat())
}

fn property(run: &Run) -> Value {
    run.json()["properties"][0].clone()
}

fn model(name: &str) -> String {
    format!("{}/models/{name}.pml", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn machines_find_what_the_processes_of_one_machine_find() {
    let scratch = Scratch::new().expect("a folder");
    let key = key(&scratch, "key");
    let (one, other) = (Host::start(&key, &["--processes", "3"]), Host::start(&key, &["--processes", "2"]));
    for (here, there) in [(1, 1), (1, 2), (3, 2)] {
        let file = hosts(&scratch, "hosts", &[(&one.address, here), (&other.address, there)]);
        let count = (here + there).to_string();
        for (name, flags) in [
            ("leader", &[][..]),
            ("peterson", &[]),
            ("handshake", &[]),
            ("overflow", &[]),
            ("leader", &["--delay", "random", "--max-delays", "2"]),
            ("overflow", &["--delay", "auto"]),
        ] {
            let model = model(name);
            let asked = [&["--property", "safety", "--no-schedule", "--json", &model], flags].concat();
            let near = check(&[&["--processes", &count], &asked[..]].concat());
            let far = check(&[&["--hosts", &file, "--key", &key], &asked[..]].concat());
            assert_eq!(near.code, far.code, "{far:?}");
            let told = |run: &Run| {
                let mut property = property(run);
                property["seconds"] = Value::Null;
                // Who waited for how long.
                property["workers"] = Value::Null;
                property
            };
            assert_eq!(told(&near), told(&far), "{name}, {count} processes");
        }
    }
    assert!(one.rests() && other.rests(), "workers are left");
}

#[test]
fn included_files_macros_and_formulas_go_with_the_model() {
    let scratch = Scratch::new().expect("a folder");
    let key = key(&scratch, "key");
    let host = Host::start(&key, &[]);
    let file = hosts(&scratch, "hosts", &[(&host.address, 1)]);
    scratch.file("n.h", "#define MAX 40\n");
    let text = "#include \"n.h\"\nbyte n; active [N] proctype P() { do :: n < MAX -> n++ :: else -> break od; assert(n == MAX) }";
    let model = scratch.file("m.pml", text);
    let run = check(&["-DN=2", "--hosts", &file, "--key", &key, "--property", "safety", &model]).expect(1);
    assert!(run.out.contains("assertion can fail"), "{run:?}");
    let holds = check(&["-DN=1", "--hosts", &file, "--key", &key, "--property", "safety", &model]).expect(0);
    assert!(holds.out.contains("exhaustive") && holds.out.contains("bfs, 1 process,"), "{holds:?}");
}

#[test]
fn a_machine_that_cannot_be_used_is_named_with_the_reason() {
    let scratch = Scratch::new().expect("a folder");
    let (one, other) = (key(&scratch, "one"), key(&scratch, "other"));
    let host = Host::start(&one, &["--processes", "2"]);
    let model = model("peterson");
    let ask = |address: &str, processes: usize, key: &[&str]| {
        let file = hosts(&scratch, "hosts", &[(address, processes)]);
        let run = check(&[&["--hosts", &file, "--json", "--property", "safety", &model], key].concat()).expect(2);
        let property = property(&run);
        assert_eq!(property["stopped"], "worker_lost", "{run:?}");
        property["reason"].as_str().expect("a reason").to_owned()
    };
    let wrong_key = ask(&host.address, 1, &["--key", &other]);
    assert!(wrong_key.contains(&format!("{}: the keys differ", host.address)), "{wrong_key}");
    let no_key = ask(&host.address, 1, &[]);
    assert!(no_key.contains("the keys differ"), "{no_key}");
    let too_many = ask(&host.address, 3, &["--key", &one]);
    assert!(too_many.contains("it allows at most 2 processes"), "{too_many}");
    let nobody = ask("127.0.0.1:1", 1, &["--key", &one]);
    assert!(nobody.contains("127.0.0.1:1: ") && nobody.contains("refused"), "{nobody}");
    let far = ask("192.0.2.1", 1, &[]);
    assert!(far.contains("without --key, only this machine"), "{far}");
    assert!(host.rests(), "workers are left");
}

#[test]
fn files_and_addresses_that_make_no_sense_are_refused_at_once() {
    let scratch = Scratch::new().expect("a folder");
    let (key, model) = (key(&scratch, "key"), model("peterson"));
    let file = scratch.file("hosts", "127.0.0.1 processes=1 # one\n127.0.0.1 threads=2\n");
    let many = scratch.file("many", "127.0.0.1 processes=65\n");
    let empty = scratch.file("empty", "# nobody\n");
    let open = scratch.file("open", "7".repeat(64));
    for (flags, why) in [
        (&["--hosts", &file][..], "hosts:2: expected `processes=N`, found `threads=2`"),
        (&["--hosts", &many], "at most 64 are supported"),
        (&["--hosts", &empty], "names no hosts"),
        (&["--hosts", "nowhere"], "cannot read the hosts in nowhere"),
        (&["--hosts", &many, "--key", &open], "chmod 600"),
        (&["--hosts", &many, "--key", &empty], "chmod 600"),
        (&["--hosts", &many, "--processes", "2"], "cannot be used with"),
        (&["--key", &key], "--hosts"),
    ] {
        let run = check(&[flags, &[&model]].concat()).expect(3);
        assert!(run.err.contains(why), "{flags:?}: {run:?}");
    }
    for (flags, why) in [
        (&["--listen", "0.0.0.0:0"][..], "cannot listen at 0.0.0.0:0 without a key"),
        (&["--listen", "127.0.0.1:x"], "expected `ADDRESS` or `ADDRESS:PORT`"),
        (&["--listen", "127.0.0.1:0", "--key", &open], "chmod 600"),
        (&["--make-key", &key], "cannot write a key"),
        (&[], "--listen"),
    ] {
        let run = run(&[&["worker"], flags].concat()).expect(3);
        assert!(run.err.contains(why), "{flags:?}: {run:?}");
    }
}

#[test]
fn what_does_not_go_with_other_machines_is_refused() {
    let scratch = Scratch::new().expect("a folder");
    let (file, model) = (scratch.file("hosts", "127.0.0.1\n"), model("peterson"));
    for flags in [["--threads", "2"], ["--depth-bound", "9"], ["--store", "bitstate"], ["--search", "dfs"]] {
        let run = check(&[&["--hosts", &file, &model], &flags[..]].concat()).expect(3);
        assert!(run.out.contains("F0508") && run.out.contains("--hosts"), "{flags:?}: {run:?}");
    }
}

#[test]
fn the_memory_limit_of_a_machine_is_its_own_and_named() {
    let scratch = Scratch::new().expect("a folder");
    let key = key(&scratch, "key");
    let host = Host::start(&key, &["--processes", "2", "--max-memory", "16M"]);
    let file = hosts(&scratch, "hosts", &[(&host.address, 2)]);
    let model = scratch.file("m.pml", COUNTERS);
    let asked = ["--hosts", &file, "--key", &key, "--json", "--timeout", "180", &model];
    let property = property(&check(&asked).expect(2));
    assert_eq!((&property["verdict"], &property["stopped"]), (&"undecided".into(), &"memory".into()), "{property}");
    let reason = property["reason"].as_str().expect("a reason");
    let named = format!("(on {}) may use no more than 8 MiB of memory", host.address);
    assert!(reason.contains("this is not a proof") && reason.contains(&named), "{reason}");
    assert!(host.rests(), "workers are left");
}
