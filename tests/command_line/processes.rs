//! `--processes`: searches by several processes of this machine, and what happens when one of them is lost.

#[cfg(target_os = "linux")]
use super::workers::{are_gone, group, has_begun, signal, workers};
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Far more states than any machine can visit while a test runs.
pub const COUNTERS: &str = "byte a[6]; active [2] proctype P() {\n\
    end: do :: a[0]++; assert(a[0] <= 255) :: a[1]++; assert(a[1] <= 255) :: a[2]++; assert(a[2] <= 255)\n\
    :: a[3]++; assert(a[3] <= 255) :: a[4]++; assert(a[4] <= 255) od }\n";
/// No check in here takes so long on any machine, unless it hangs.
const HANGS: Duration = Duration::from_secs(200);
/// What keeps a check that is not ended from filling the machine.
pub const BOUNDED: [&str; 5] = ["--max-memory", "1G", "--timeout", "180", "--no-schedule"];

fn check(args: &[&str]) -> (i32, String) {
    let run = Run::shell(env!("CARGO_BIN_EXE_fabius"), "exec \"$0\" check --no-cache --color never \"$@\" 2>&1", args);
    (run.code, run.out)
}

fn model(name: &str) -> String {
    format!("{}/models/{name}.pml", env!("CARGO_MANIFEST_DIR"))
}

fn property(report: &str) -> Value {
    let report: Value = serde_json::from_str(report).unwrap_or_else(|why| panic!("{why}: {report}"));
    report["properties"][0].clone()
}

#[test]
fn two_and_three_processes_find_what_one_finds() {
    for name in ["leader", "peterson", "handshake", "overflow"] {
        let model = model(name);
        let asked = ["--property", "safety", "--no-schedule", "--json", "--search", "bfs", &model];
        let (code, one) = check(&asked);
        let one = property(&one);
        let mut told: BTreeMap<&str, Value> = BTreeMap::new();
        for count in ["2", "3", "2"] {
            let (code_of_all, all) = check(&[&["--processes", count], &asked[..]].concat());
            let mut all = property(&all);
            assert_eq!((code, &one["verdict"], &one["depth"]), (code_of_all, &all["verdict"], &all["depth"]), "{name}");
            assert_eq!(all["strategy"]["processes"], count.parse::<u64>().expect("a number"));
            if one["verdict"] == "holds" {
                assert_eq!((&one["states"], &one["transitions"]), (&all["states"], &all["transitions"]), "{name}");
            }
            let steps = |report: &Value| report["violations"][0]["steps"].clone();
            assert_eq!(steps(&one), steps(&all), "{name}");
            for key in ["seconds", "memory_bytes", "bytes_per_state", "strategy", "workers"] {
                all[key] = Value::Null;
            }
            let told = told.entry(count).or_insert_with(|| all.clone());
            assert_eq!(*told, all, "{name}: {count} processes tell another story");
        }
    }
}

/// One process explores a state as it meets it first, several in a fixed way: only if all is searched are the numbers the same.
#[test]
fn two_and_three_processes_search_by_number_of_delays() {
    for (name, scheduler, delays_max) in [
        ("leader", "auto", None),
        ("leader", "random", Some("1")),
        ("peterson", "priority", None),
        ("handshake", "auto", None),
        ("overflow", "rr", None),
        ("bounded_buffer", "laps", None),
    ] {
        let model = model(name);
        let mut asked = vec!["--property", "safety", "--no-schedule", "--json", "--delay", scheduler, &model];
        asked.extend(delays_max.iter().flat_map(|max| ["--max-delays", max]));
        let (code, one) = check(&asked);
        let one = property(&one);
        let exact = property(&check(&[&asked[..], &["--delay-mode", "exact"]].concat()).1);
        let mut told: Option<Value> = None;
        for count in ["2", "3", "2"] {
            let (code_of_all, all) = check(&[&["--processes", count], &asked[..]].concat());
            let mut all = property(&all);
            assert_eq!((code, &one["verdict"]), (code_of_all, &all["verdict"]), "{name}: {all}");
            assert_eq!(all["strategy"]["processes"], count.parse::<u64>().expect("a number"));
            for key in ["algorithm", "order", "scheduler", "delays_max", "seed"] {
                assert_eq!(one["strategy"][key], all["strategy"][key], "{name}: {key}");
            }
            if one["verdict"] == "holds" {
                assert_eq!((&one["states"], &one["transitions"]), (&all["states"], &all["transitions"]), "{name}");
            }
            let delays = |report: &Value| report["violations"][0]["delays"].as_array().map(Vec::len);
            assert!(delays(&exact) <= delays(&all), "{name}: {all}");
            let workers = all["workers"].as_array().map_or(0, Vec::len).to_string();
            assert_eq!(workers, count, "{name}");
            for key in ["seconds", "memory_bytes", "bytes_per_state", "strategy", "workers"] {
                all[key] = Value::Null;
            }
            let told = told.get_or_insert_with(|| all.clone());
            assert_eq!(*told, all, "{name}: {count} processes tell another story");
        }
    }
}

#[test]
fn two_and_three_processes_find_the_infinite_runs_that_one_finds() {
    for (name, kind, flags) in [
        ("peterson_served", "ltl", &[][..]),
        ("retry_forever", "progress", &["--progress", "transitions"]),
        ("retry_forever", "ltl", &[]),
        ("semaphore", "ltl", &["--ltl", "[] (free <= 1)"]),
    ] {
        let model = model(name);
        let asked = [&["--property", kind, "--no-schedule", "--json", &model], flags].concat();
        let (code, one) = check(&[&["--cycles", "scc"], &asked[..]].concat());
        let mut told: Option<Value> = None;
        for count in ["2", "3", "2"] {
            let (code_of_all, all) = check(&[&["--processes", count], &asked[..]].concat());
            assert_eq!(code, code_of_all, "{name}: {all}");
            let (one, mut all): (Value, Value) =
                (serde_json::from_str(&one).expect("a report"), serde_json::from_str(&all).expect("a report"));
            let both = one["properties"]
                .as_array()
                .expect("properties")
                .iter()
                .zip(all["properties"].as_array_mut().expect("properties"));
            for (one, all) in both {
                assert_eq!((&one["name"], &one["verdict"]), (&all["name"], &all["verdict"]), "{name}");
                assert_eq!((&all["search"], &all["strategy"]["algorithm"]), (&"map".into(), &"map".into()));
                assert_eq!(all["strategy"]["processes"], count.parse::<u64>().expect("a number"));
                if one["verdict"] == "holds" {
                    assert_eq!(one["states"], all["states"], "{name}");
                }
                for key in ["seconds", "memory_bytes", "bytes_per_state", "strategy", "workers", "violations"] {
                    all[key] = Value::Null;
                }
            }
            let told = told.get_or_insert_with(|| all["properties"].clone());
            assert_eq!(*told, all["properties"], "{name}: {count} processes tell another story");
        }
    }
}

#[test]
fn a_run_of_infinite_length_that_processes_find_is_shown() {
    let (code, out) = check(&["--processes", "2", "--property", "served", &model("peterson_served")]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("--processes 2") && !out.contains("internal error"), "{out}");
    assert!(out.contains("loop") && out.contains("fair"), "{out}");
}

#[test]
fn a_run_that_ends_for_ever_at_an_acceptance_label_is_shown() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("m.pml", "byte n; active proctype P() { accept_here: n == 1 }");
    for count in ["2", "3"] {
        let (code, out) = check(&["--processes", count, "--property", "acceptance", &model]);
        assert_eq!(code, 1, "{out}");
        assert!(out.contains("F0606") && out.contains("nothing can move"), "{out}");
        assert!(!out.contains("internal error"), "{out}");
    }
}

#[test]
fn a_model_with_included_files_and_macros_is_the_same_for_every_process() {
    let scratch = Scratch::new().expect("a folder");
    scratch.file("n.h", "#define MAX 40\n");
    let text = "#include \"n.h\"\nbyte n; active [N] proctype P() { do :: n < MAX -> n++ :: else -> break od; assert(n == MAX) }";
    let model = scratch.file("m.pml", text);
    let (code, out) = check(&["-DN=2", "--processes", "2", &model]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("assertion can fail") && !out.contains("internal error"), "{out}");
}

#[test]
fn limits_hold_for_all_processes_together() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("m.pml", COUNTERS);
    for (flags, stopped) in [
        (["--max-states", "3000"], "states"),
        (["--max-memory", "8M"], "memory"),
        (["--timeout", "2"], "timeout"),
        (["--max-depth", "4"], "depth"),
    ] {
        for asked in [&["--property", "safety"][..], &["--property", "formula", "--ltl", "[] (a[0] <= 255)"]] {
            let (code, out) = check(&[&["--processes", "2", "--json", &model], &flags[..], asked].concat());
            let property = property(&out);
            assert_eq!((code, &property["stopped"]), (2, &Value::from(stopped)), "{out}");
            assert_eq!(property["verdict"], "undecided");
        }
    }
}

/// What each process did, as the events told it last.
#[test]
fn events_and_reports_tell_what_each_process_did() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("m.pml", COUNTERS);
    let asked = ["--processes", "2", "--max-states", "60000", "--no-schedule", "--property", "safety", &model];
    let (_, events) = check(&[&["--events"], &asked[..]].concat());
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let mut told = events.iter().filter(|event| event["event"] == "progress").map(|event| &event["workers"]);
    assert!(told.clone().all(|workers| workers.as_array().is_some_and(|workers| workers.len() == 2)), "{events:?}");
    let last = told.next_back().expect("progress").clone();
    let done = events.iter().find(|event| event["event"] == "property_done").expect("a property");
    let property = &done["property"];
    assert_eq!(property["workers"], last);
    let sum = |key: &str| -> u64 {
        last.as_array().expect("two").iter().map(|worker| worker[key].as_u64().expect(key)).sum()
    };
    assert_eq!((&property["states"], &property["transitions"]), (&sum("states").into(), &sum("transitions").into()));
    assert!(last.as_array().expect("two").iter().all(|worker| worker["sent_bytes"].as_u64() > Some(0)), "{last}");
    let (_, page) = check(&[&["--format", "html"], &asked[..]].concat());
    let rows = page.matches("<svg class=\"v-bar\"").count();
    assert!(page.contains("States of each process: safety") && rows == 2, "{rows} rows");
}

#[test]
fn what_does_not_go_with_processes_is_refused() {
    let model = model("peterson");
    for flags in [
        &["--threads", "2"][..],
        &["--store", "bitstate"],
        &["--search", "dfs"],
        &["--delay", "auto", "--delay-mode", "exact"],
        &["--delay", "auto", "--choice-bound", "1"],
        &["--delay", "auto", "--max-depth", "9"],
        &["--delay", "auto", "--keep-going", "--checkpoint", "never.search"],
    ] {
        let (code, out) = check(&[&["--processes", "2", "--property", "safety", &model], flags].concat());
        assert_eq!(code, 3, "{flags:?}: {out}");
        assert!(out.contains("F0508") && out.contains("cannot be combined"), "{flags:?}: {out}");
    }
    for flags in [["--fairness", "weak"], ["--fairness", "strong"], ["--cycles", "ndfs"], ["--delay", "auto"]] {
        let asked = ["--processes", "2", "--property", "ltl", &self::model("retry_forever")];
        let (code, out) = check(&[&asked[..], &flags[..]].concat());
        assert_eq!(code, 3, "{flags:?}: {out}");
        assert!(out.contains("cannot be combined") && out.contains("nearest combination"), "{flags:?}: {out}");
    }
}

#[test]
fn nobody_is_a_worker_by_himself() {
    let run = Run::shell(env!("CARGO_BIN_EXE_fabius"), "\"$0\" worker --memory-each=0 < /dev/null", &[]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.err.contains("fabius check --processes"), "{run:?}");
}

/// A check by three processes of what never ends, and its workers.
#[cfg(target_os = "linux")]
fn started(scratch: &Scratch) -> (Child, Vec<u32>) {
    started_with(scratch, 3, &[])
}

/// The same by so many processes.
#[cfg(target_os = "linux")]
fn started_with(scratch: &Scratch, processes: usize, flags: &[&str]) -> (Child, Vec<u32>) {
    let model = scratch.file("m.pml", COUNTERS);
    let bounded = if flags.is_empty() { &BOUNDED[..] } else { flags };
    let mut check = Command::new(env!("CARGO_BIN_EXE_fabius"))
        .args(["check", "--no-cache", "--json", "--processes", &processes.to_string(), &model])
        .args(bounded)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the tool starts");
    let began = Instant::now();
    loop {
        let workers = workers(check.id());
        if workers.len() == processes && workers.iter().all(has_begun) {
            return (check, workers);
        }
        assert!(check.try_wait().expect("a child").is_none() && began.elapsed() < HANGS, "no workers");
        thread::sleep(Duration::from_millis(5));
    }
}

/// What a check says in the end, which has to come; none of its workers is left then.
#[cfg(target_os = "linux")]
fn ended(mut check: Child, workers: &[u32]) -> (Option<i32>, Value) {
    let began = Instant::now();
    while check.try_wait().expect("a child").is_none() {
        if HANGS < began.elapsed() {
            let _ = check.kill();
            panic!("the check hangs");
        }
        thread::sleep(Duration::from_millis(20));
    }
    let output = check.wait_with_output().expect("its output");
    assert!(are_gone(workers), "workers are left");
    (output.status.code(), property(&String::from_utf8_lossy(&output.stdout)))
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_is_killed_ends_the_search_and_is_named() {
    for victim in 0..3 {
        let scratch = Scratch::new().expect("a folder");
        let (check, workers) = started(&scratch);
        signal("-KILL", workers[victim]);
        let (code, property) = ended(check, &workers);
        assert_eq!((code, &property["verdict"]), (Some(2), &Value::from("undecided")), "{property}");
        assert_eq!((&property["stopped"], &property["exhaustive"]), (&Value::from("worker_lost"), &Value::from(false)));
        let reason = property["reason"].as_str().expect("a reason");
        let named = format!("(process {}) was ended by signal 9", workers[victim]);
        assert!(reason.contains("this is not a proof") && reason.contains(&named), "{reason}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_does_not_answer_ends_the_search_and_is_not_left() {
    let scratch = Scratch::new().expect("a folder");
    let (check, workers) = started(&scratch);
    signal("-STOP", workers[1]);
    let (code, property) = ended(check, &workers);
    assert_eq!((code, &property["stopped"]), (Some(2), &Value::from("worker_lost")), "{property}");
    let reason = property["reason"].as_str().expect("a reason");
    assert!(reason.contains(&format!("(process {}) did not answer", workers[1])), "{reason}");
}

#[cfg(target_os = "linux")]
#[test]
fn workers_end_with_a_check_that_is_killed_even_if_they_are_stopped() {
    let scratch = Scratch::new().expect("a folder");
    let (mut check, workers) = started(&scratch);
    signal("-STOP", workers[1]);
    check.kill().expect("killed");
    check.wait().expect("ended");
    let began = Instant::now();
    while !are_gone(&workers) {
        assert!(began.elapsed() < HANGS, "a worker outlives its check");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The most memory that a process had, in bytes, as far as the system says.
#[cfg(target_os = "linux")]
fn peak(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kilobytes| kilobytes << 10)
}

/// The search holds its part of the table and of the frontier, and no more than this beside them.
#[cfg(target_os = "linux")]
const BESIDE_MAX: u64 = 64 << 20;

#[cfg(target_os = "linux")]
#[test]
fn a_process_takes_little_more_than_its_table_also_where_another_one_is_slow() {
    for (states, slowed) in [("1500000", false), ("300000", true)] {
        let scratch = Scratch::new().expect("a folder");
        let flags = ["--max-states", states, "--no-schedule", "--property", "safety"];
        let (mut check, workers) = started_with(&scratch, 2, &flags);
        let mut peaks = [0, 0];
        while check.try_wait().expect("a child").is_none() {
            workers.iter().zip(&mut peaks).for_each(|(id, known)| *known = peak(*id).max(*known));
            // One of twenty moments is left to it.
            if slowed {
                signal("-STOP", workers[0]);
                thread::sleep(Duration::from_millis(38));
                signal("-CONT", workers[0]);
            }
            thread::sleep(Duration::from_millis(2));
        }
        let (_, property) = ended(check, &workers);
        assert_eq!(property["stopped"], "states", "{property}");
        let told = property["workers"].as_array().expect("workers").iter();
        let memory = told.map(|worker| worker["memory_bytes"].as_u64().expect("bytes")).max().expect("two");
        for peak in peaks {
            assert!(0 < peak && peak <= memory + BESIDE_MAX, "{slowed}: {peak} bytes beside {memory}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_search_says_what_is_known_and_leaves_no_worker() {
    let scratch = Scratch::new().expect("a folder");
    let (check, workers) = started(&scratch);
    // As a terminal does it: all processes of the group.
    let interrupted = group(check.id());
    workers.iter().filter(|worker| group(**worker) == interrupted).for_each(|worker| signal("-INT", *worker));
    signal("-INT", check.id());
    let (code, property) = ended(check, &workers);
    assert_eq!((code, &property["stopped"]), (Some(2), &Value::from("cancelled")), "{property}");
}
