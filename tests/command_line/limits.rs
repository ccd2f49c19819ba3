//! Limits that hold whatever a model does: memory that the system does not give, time, output that cannot be written.

use fabius_testkit::corpus::Corpus;
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use fabius_testkit::tool::Tool;
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

/// Number of corpus models that are checked with little time, without and with `FABIUS_FULL=1`, …
const CORPUS_MODELS: [usize; 2] = [18, 300];
/// … and what is passed to each of these checks, and when it is killed: long after it should have ended, on any machine.
const BRIEFLY: [[&str; 4]; 2] =
    [["--timeout", "300ms", "--max-memory", "1G"], ["--timeout", "2s", "--max-memory", "1G"]];
const KILLED_AFTER: Duration = Duration::from_secs(40);

/// What a run of the binary (`$0`) in a shell left behind: its exit code, output and errors.
fn shell(script: &str, args: &[&str]) -> (i32, String, String) {
    let Run { code, out, err } = Run::shell(env!("CARGO_BIN_EXE_fabius"), script, args);
    (code, out, err)
}

/// Runs the binary, and nothing else.
const RUN: &str = "exec \"$0\" \"$@\"";

/// Counters that make very many states, and never fail.
const COUNTERS: &str = "byte a[6]; active [2] proctype P() {\n\
    end: do :: a[0]++; assert(a[0] <= 255) :: a[1]++; assert(a[1] <= 255) :: a[2]++; assert(a[2] <= 255)\n\
    :: a[3]++; assert(a[3] <= 255) :: a[4]++; assert(a[4] <= 255) od }\n";

#[cfg(target_os = "linux")]
#[test]
fn a_limit_on_the_address_space_is_kept_by_default() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("m.pml", COUNTERS);
    // Were the default three quarters of the free memory, this would end in a failed allocation.
    let (code, out, err) = shell("ulimit -v 1000000; exec \"$0\" check --json --no-reduction \"$@\"", &[&model]);
    assert_eq!(code, 2, "{out}\n{err}");
    let report: Value = serde_json::from_str(&out).expect("a report");
    let property = &report["properties"][0];
    assert_eq!((&property["verdict"], &property["stopped"]), (&"undecided".into(), &"memory".into()), "{out}");
    assert!(property["reason"].as_str().is_some_and(|reason| reason.contains("memory limit")), "{out}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_allowed_counts_while_a_model_is_read() {
    let scratch = Scratch::new().expect("a folder");
    let many = |i| format!("proctype P{i}() {{ byte x; x = g; L: g = x + 1; if :: x > 2 -> goto L :: else fi }}\n");
    let text: String = (0..40_000).map(many).collect();
    let model = scratch.file("m.pml", format!("byte g;\n{text}init {{ run P0() }}\n"));
    for command in ["check", "schedule", "executions", "stuck"] {
        let (code, out, err) = shell(RUN, &[command, "--json", "--max-memory", "64M", &model]);
        assert_eq!(code, 2, "{command}: {out}\n{err}");
        assert!(format!("{out}{err}").contains("the memory allowed was used up"), "{command}: {out}\n{err}");
    }
}

/// Searches count what they hold, copies of whole states included: `LARGE` states fill the memory allowed many times over.
#[cfg(target_os = "linux")]
#[test]
fn the_memory_allowed_counts_where_states_are_large() {
    const LARGE: &str = "int z[1000000]; active [20] proctype P() { int k; do :: z[k] = k; k = (k + 1) % 1000000 od }";
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("m.pml", LARGE);
    let smaller = scratch.file("n.pml", LARGE.replace("1000000", "60000").replace("[20]", "[2]"));
    let script = "ulimit -v 600000; exec \"$0\" check --max-memory 100M --property safety --no-schedule \"$@\"";
    let (code, out, err) = shell(script, &["--search", "bfs", &model]);
    assert!(code == 2 && out.contains("the memory limit of 100 MiB was reached"), "{code} {out}\n{err}");
    let (code, out, err) = shell(script, &["--delay", "auto", "--delay-mode", "sample", "--runs", "1", &smaller]);
    assert!(code == 2 && out.contains("no error found in 1 run"), "{code} {out}\n{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_allocation_that_fails_ends_with_what_is_known() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("m.pml", COUNTERS);
    for flags in ["--json", "--events", "--color=never"] {
        let script = format!("ulimit -v 300000; exec \"$0\" check --max-memory 64G --no-reduction {flags} \"$@\"");
        let (code, out, err) = shell(&script, &[&model]);
        assert_eq!(code, 2, "{flags}: {out}\n{err}");
        assert!(out.contains("the system gave no more memory"), "{flags}: {out}\n{err}");
        if flags.starts_with("--json") {
            let report: Value = serde_json::from_str(&out).expect("one document");
            assert!(report["properties"][0]["states"].as_u64().is_some_and(|states| states > 1000), "{out}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("m.pml", "byte x; init { x = 1; assert(x == 1) }");
    let check = ["check", "check --json", "check --events"].map(|command| format!("{command} {model}"));
    let others = ["man", "completions bash", "completions zsh", "--help", "--version", "check --help"];
    for command in check.iter().map(String::as_str).chain(others) {
        let (code, _, err) = shell(&format!("exec \"$0\" {command} > /dev/full"), &[]);
        assert_eq!(code, 3, "{command}: {err}");
        assert!(err.contains("the output cannot be written"), "{command}: {err}");
        let (_, out, err) = shell(&format!("\"$0\" {command} | true"), &[]);
        assert_eq!((out.as_str(), err.as_str()), ("", ""), "{command}: a reader that has gone away is no error");
    }
}

/// A model that takes long to read.
fn huge() -> String {
    let lines = (0..300_000).map(|i| format!("  x = x + {i}; if :: x > {i} -> x = 0 :: else fi;\n"));
    format!("int x;\nactive proctype P() {{\n{}}}\n", lines.collect::<String>())
}

#[cfg(target_os = "linux")]
#[test]
fn a_model_that_takes_long_to_read_stops_in_time_and_the_next_one_is_checked() {
    let scratch = Scratch::new().expect("a folder");
    let (slow, fast) = (scratch.file("slow.pml", huge()), scratch.file("fast.pml", "init { skip }"));
    scratch.file("fabius.toml", "defines = [\"N=3\"]\n");
    let script = "exec \"$0\" check --json --timeout 100ms \"$@\"";
    let (code, out, err) = shell(script, &[&slow, &fast]);
    assert_eq!(code, 2, "{out}\n{err}");
    let reports: Value = serde_json::from_str(&out).expect("one document");
    assert_eq!(reports[0]["verdict"], "undecided", "{out}");
    assert_eq!(reports[0]["reason"], "not checked: the time allowed was used up");
    assert_eq!(reports[0]["project"]["settings"][0], "defines = [\"N=3\"]", "{out}");
    assert_eq!(reports[1]["verdict"], "holds", "{out}");
}

#[test]
fn a_checkpoint_that_cannot_be_written_is_an_error_before_the_work() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("m.pml", "init { skip }");
    for place in [scratch.path().join("absent/search"), scratch.path().to_path_buf()] {
        let place = place.display().to_string();
        let (code, out, err) = shell(RUN, &["check", "--delay", "rr", "--checkpoint", &place, &model]);
        assert_eq!((code, out.as_str()), (3, ""), "{err}");
        assert!(err.contains("cannot write the checkpoint"), "{err}");
    }
}

#[test]
fn wishes_that_cannot_be_granted_are_refused_or_named() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("m.pml", "byte x; ltl p { [] <> (x == 1) }\nactive proctype P() { do :: x = 1 - x od }");
    let cases: [(&[&str], &str); 5] = [
        (&["--search", "bfs", "--property", "p"], "`--search bfs` does not suit `p`"),
        (&["--store", "bitstate", "--property", "p"], "`--store bitstate` does not suit `p`"),
        (
            &["--fairness", "weak", "--delay", "rtc", "--property", "p"],
            "`--delay rtc` and `--fairness weak` cannot be combined to check `p`",
        ),
        (
            &["--fairness", "weak", "--threads", "2", "--property", "p"],
            "`--threads 2` and `--fairness weak` cannot be combined to check `p`",
        ),
        (
            &["--store", "hash", "--threads", "2", "--property", "safety"],
            "`--threads 2` and `--store hash` cannot be combined to check `safety`",
        ),
    ];
    for (flags, what) in cases {
        let (code, out, err) = shell(RUN, &[&["check", &model], flags].concat());
        assert!(code == 3 && out.contains("F0508") && out.contains(what), "{flags:?}: {out}\n{err}");
    }
    // What suits one property is heeded there, and missed elsewhere.
    for flags in [["--search", "bfs"], ["--store", "hash"]] {
        let (_, out, err) = shell(RUN, &[&["check", &model], &flags[..]].concat());
        assert!(out.contains("F0507") && out.contains("violations of `p`"), "{flags:?}: {out}\n{err}");
        assert!(!out.contains("violations of `safety`"), "{flags:?}: {out}\n{err}");
    }
    let (_, out, _) = shell(RUN, &["check", &model, "--search", "bfs", "--property", "safety"]);
    assert!(!out.contains("F0507"), "{out}");
}

#[test]
fn the_largest_parts_of_a_state_that_is_too_large_are_named() {
    let scratch = Scratch::new().expect("a folder");
    let text = "byte small; chan c = [1048576] of { int, int };\nint big[18874368];\nint other[10485760];
                init { big[small] = other[small]; c!1,2 }";
    let model = scratch.file("m.pml", text);
    let (code, out, _) = shell(RUN, &["check", &model]);
    assert_eq!(code, 3, "{out}");
    for said in ["64 MiB", "`big` alone takes 72 MiB", "`other` alone takes 40 MiB", "`c` alone takes 8 MiB"] {
        assert!(out.contains(said), "no {said:?} in {out}");
    }
    assert!(!out.contains("`small`"), "{out}");
}

#[test]
fn a_large_state_is_searched_in_little_memory() {
    let scratch = Scratch::new().expect("a folder");
    let text = "int a[100000] = 3;
        init { int i; for (i : 0 .. 4) { a[i * 20000]++ }; assert(a[80000] == 4 && a[99999] == 3);
          do :: i > 2 -> i--; a[i] = 0 :: i > 3 -> i = i - 2; a[90000 + i] = i :: else -> break od }";
    let model = scratch.file("m.pml", text);
    let (code, out, err) = shell(RUN, &["check", "--no-reduction", "--json", &model]);
    assert_eq!(code, 0, "{out}\n{err}");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    let safety = &report["properties"][0];
    // Spin: `pan.c` compiled with `-DVECTORSZ=900000 -DNOREDUCE`.
    assert_eq!(safety["states"], 37, "{report}");
    // No two states of 400 KB are kept in full, whatever the search needs besides.
    assert!(safety["memory_bytes"].as_u64().is_some_and(|bytes| bytes < 37 * 200_000), "{report}");
}

#[cfg(unix)]
#[test]
fn an_included_file_that_never_ends_is_refused_at_once() {
    let scratch = Scratch::new().expect("a folder");
    let pipe = scratch.path().join("pipe").display().to_string();
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    for special in ["/dev/zero", "/dev/random", "/dev/stdin", &pipe] {
        let model = scratch.file("m.pml", format!("#include \"{special}\"\ninit {{ skip }}\n"));
        let (code, out, err) = shell(RUN, &["check", "--timeout", "20s", &model]);
        assert_eq!(code, 3, "{special}: {out}{err}");
        assert!(out.contains("cannot be found or read") && out.contains("ordinary file"), "{special}: {out}{err}");
    }
}

#[test]
fn the_length_of_runs_is_not_given_where_it_is_not_known() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("m.pml", "byte x; active [2] proctype P() { x++; x++ }");
    let (_, out, _) = shell(RUN, &["check", "--delay", "rr", "--property", "safety", &model]);
    assert!(out.contains("holds") && !out.contains("depth 0"), "{out}");
}

#[test]
fn tables_for_a_reduction_that_does_not_pay_are_not_made() {
    let scratch = Scratch::new().expect("a folder");
    let steps: String = (0..4000).map(|i| format!("x = g[{}]; g[{}] = x;\n", i % 8, (i + 1) % 8)).collect();
    let text = format!("byte g[8]; byte x;\nactive [2] proctype P() {{ do :: {steps} progress: skip od }}");
    let model = scratch.file("m.pml", text);
    let flags = ["check", &model, "--json", "--property", "progress", "--max-states", "10"];
    let (_, out, err) = shell(RUN, &flags);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}\n{err}"));
    let reduction = report["properties"][0]["reduction"].as_str().unwrap_or("");
    assert!(reduction.contains("so large"), "{out}");
}

#[test]
fn checks_of_real_models_end_soon_after_their_time() {
    let Some(corpus) = Corpus::load() else { return };
    let tool = Tool::new(env!("CARGO_BIN_EXE_fabius")).within(KILLED_AFTER);
    let full = usize::from(std::env::var_os("FABIUS_FULL").is_some());
    let stride = corpus.entries.len().div_ceil(CORPUS_MODELS[full]).max(1);
    for entry in corpus.entries.iter().step_by(stride) {
        let checked = tool.check_all(&corpus.file(entry), &BRIEFLY[full]);
        assert!(checked.is_ok(), "{}: {:?}", entry.path, checked.err());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_allocation_that_fails_while_models_are_watched_ends_the_check_and_not_the_program() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("m.pml", COUNTERS);
    let script = "ulimit -v 700000; exec \"$0\" watch --once --timeout 120 \"$@\"";
    let (code, out, err) = shell(script, &[&model]);
    assert_eq!(code, 2, "{out}\n{err}");
    assert!(out.contains("not everything was checked") || out.contains("gave no more memory"), "{out}\n{err}");
}
