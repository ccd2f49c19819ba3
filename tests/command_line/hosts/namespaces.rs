//! Two networks on this machine, joined by a wire, as two machines.

use super::{BOUNDED, COUNTERS, HANGS, Host, fabius, hosts, key, model, property, workers};
use fabius_needs::{Need, skipped};
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Two networks, `A` with 10.77.0.1 and `B` with 10.77.0.2.
struct Wire {
    names: [String; 2],
}

fn ip(args: &[&str]) -> bool {
    Command::new("ip").args(args).output().is_ok_and(|output| output.status.success())
}

impl Wire {
    /// `None` if they cannot be made here.
    fn join(name: &str) -> Option<Self> {
        if !Need::Namespaces.met() {
            return None;
        }
        let wire = Self { names: ["a", "b"].map(|end| format!("f{name}{}{end}", std::process::id())) };
        let [a, b] = &wire.names;
        let is_made = ip(&["netns", "add", a])
            && ip(&["netns", "add", b])
            && ip(&["link", "add", a, "netns", a, "type", "veth", "peer", "name", b, "netns", b])
            && wire.names.iter().zip(["10.77.0.1/24", "10.77.0.2/24"]).all(|(end, address)| {
                ip(&["-n", end, "address", "add", address, "dev", end])
                    && ip(&["-n", end, "link", "set", end, "up"])
                    && ip(&["-n", end, "link", "set", "lo", "up"])
            });
        if !is_made {
            skipped(Need::Namespaces, "networks cannot be made here");
            return None;
        }
        Some(wire)
    }

    /// The tool with arguments, in one of the networks.
    fn fabius(&self, end: usize, args: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[end], env!("CARGO_BIN_EXE_fabius")]).args(args);
        command.env("FABIUS_CACHE", "off").stdin(Stdio::null());
        command
    }

    fn host(&self, end: usize, key: &str) -> Host {
        let address = format!("10.77.0.{}:7411", end + 1);
        Host::by(self.fabius(end, &["worker", "--listen", &address, "--key", key, "--processes", "2"]))
    }

    /// What is sent from now on takes long, and some of it is lost.
    fn worsen(&self) {
        let with = |words: &[&str]| {
            self.names.iter().all(|end| {
                let wire = ["netns", "exec", end, "tc", "qdisc", "add", "dev", end, "root"];
                ip(&[&wire[..], words].concat())
            })
        };
        if with(&["netem", "delay", "5ms", "2ms", "loss", "2%"]) {
            return;
        }
        // What does not fit into a short queue is lost.
        let narrow = with(&["tbf", "rate", "20mbit", "burst", "8kb", "latency", "2ms"]);
        skipped(Need::Netem, if narrow { "the wire is narrow instead" } else { "the wire is as it is" });
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        for end in &self.names {
            ip(&["netns", "delete", end]);
        }
    }
}

#[test]
fn two_networks_find_what_one_machine_finds_over_a_bad_wire() {
    let Some(wire) = Wire::join("x") else { return };
    wire.worsen();
    let scratch = Scratch::new().expect("a folder");
    let key = key(&scratch, "key");
    let (_one, _other) = (wire.host(0, &key), wire.host(1, &key));
    let file = hosts(&scratch, "hosts", &[("10.77.0.1", 1), ("10.77.0.2", 2)]);
    for name in ["leader", "peterson", "handshake", "overflow"] {
        let asked = ["check", "--no-cache", "--property", "safety", "--no-schedule", "--json", &model(name)];
        let near = Run::from(fabius(&[&asked[..], &["--processes", "3"]].concat()).output().expect("the binary runs"));
        let far = [&asked[..], &["--hosts", &file, "--key", &key]].concat();
        let far = Run::from(wire.fabius(0, &far).output().expect("the binary runs"));
        let told = |run: &Run| {
            let mut property = property(run);
            property["seconds"] = serde_json::Value::Null;
            // Who waited for how long.
            property["workers"] = serde_json::Value::Null;
            property
        };
        assert_eq!((near.code, told(&near)), (far.code, told(&far)), "{name}");
    }
}

#[test]
fn a_wire_that_is_pulled_out_ends_the_search_on_both_sides() {
    let Some(wire) = Wire::join("y") else { return };
    let scratch = Scratch::new().expect("a folder");
    let key = key(&scratch, "key");
    let machines = [wire.host(0, &key), wire.host(1, &key)];
    let file = hosts(&scratch, "hosts", &[("10.77.0.1", 1), ("10.77.0.2", 1)]);
    let model = scratch.file("m.pml", COUNTERS);
    let asked = ["check", "--no-cache", "--json", "--hosts", &file, "--key", &key, &model];
    let mut check = wire.fabius(0, &[&asked[..], &BOUNDED[..]].concat());
    let mut check = check.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary runs");
    let began = Instant::now();
    while machines.iter().any(|host| workers(host.child.id()).is_empty()) {
        assert!(began.elapsed() < HANGS, "the workers do not begin");
        thread::sleep(Duration::from_millis(5));
    }
    assert!(ip(&["-n", &wire.names[1], "link", "set", &wire.names[1], "down"]));
    let began = Instant::now();
    while check.try_wait().expect("a child").is_none() {
        if HANGS < began.elapsed() {
            let _ = check.kill();
            panic!("the check hangs");
        }
        thread::sleep(Duration::from_millis(20));
    }
    let run = Run::from(check.wait_with_output().expect("its output"));
    let property = property(&run);
    assert_eq!((run.code, &property["stopped"]), (2, &"worker_lost".into()), "{run:?}");
    let reason = property["reason"].as_str().expect("a reason");
    assert!(reason.contains("10.77.0.2") && reason.contains("10 seconds"), "{reason}");
    assert!(machines.iter().all(Host::rests), "workers are left");
}
