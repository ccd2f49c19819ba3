//! Interrupts, pipes, and trails that are written.

use super::*;
use fabius_needs::spin::replay;

/// Waits for a process, but not for ever.
fn wait(mut child: Child) -> Run {
    let began = Instant::now();
    while child.try_wait().expect("it can be waited for").is_none() {
        assert!(began.elapsed() < Duration::from_secs(30), "the process does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    Run::from(child.wait_with_output().expect("its output can be read"))
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(status.success());
}

#[cfg(unix)]
#[test]
fn ctrl_c_prints_what_is_known() {
    let child = command(&["check", "endless.pml", "holds.pml"]).spawn().expect("the binary runs");
    std::thread::sleep(Duration::from_millis(700));
    interrupt(&child);
    let run = wait(child).expect(2).says("undecided").says("interrupted").says("not a proof");
    assert!(!run.out.contains("holds.pml"), "the files that follow are left out: {}", run.out);

    let child = command(&["check", "endless.pml", "--json"]).spawn().expect("the binary runs");
    std::thread::sleep(Duration::from_millis(700));
    interrupt(&child);
    let report = wait(child).expect(2).json();
    assert_eq!(report["properties"][0]["stopped"], "cancelled");
    assert!(report["properties"][0]["states"].as_u64() > Some(1000));
}

#[test]
fn events_arrive_while_the_search_runs() {
    let mut child = command(&["check", "endless.pml", "--events"]).spawn().expect("the binary runs");
    let mut out = child.stdout.take().expect("stdout");
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while text.matches("\"progress\"").count() < 3 {
        let read = out.read(&mut buffer).expect("readable");
        assert!(read > 0, "it ended: {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    child.kill().expect("it can be ended");
    let _ = child.wait();
    assert!(text.starts_with("{\"event\":\"started\""), "{text}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = command(&["check", "broken.pml", "--color", "always"]).spawn().expect("the binary runs");
    drop(child.stdout.take());
    assert_eq!(wait(child).expect(1).err, "");
}

/// Whether `spin` can be used; says so if not.
fn spin_is_there() -> bool {
    fabius_needs::Need::Spin.met()
}

#[test]
fn spin_replays_the_trail_to_the_same_error() {
    if !spin_is_there() {
        return;
    }
    let scratch = Scratch::new().expect("a folder");
    for (name, flags, error) in [
        ("broken.pml", &[][..], "assertion violated"),
        ("broken.pml", &["--no-optimize"][..], "assertion violated"),
        ("broken.pml", &["--search", "dfs"][..], "assertion violated"),
        ("stuck.pml", &[][..], "trail ends after"),
        ("several.pml", &["--search", "bfs"][..], "assertion violated"),
    ] {
        let text = std::fs::read(folder().join(name)).expect("model");
        let file = scratch.file(name, &text);
        let report = check(&[&[file.as_str(), "--trail", "--json"], flags].concat()).expect(1).json();
        let steps = report["properties"][0]["violations"][0]["steps"].as_u64().expect("steps");
        let output = replay(scratch.path(), name).output().expect("spin runs");
        let replay = Run::from(output);
        assert!(replay.out.contains(error), "{name} {flags:?}: {}", replay.out);
        let expected = format!("trail ends after {steps} steps");
        let as_written = flags.contains(&"--no-optimize");
        assert!(!as_written || replay.out.contains(&expected), "{name} {flags:?} {expected}: {}", replay.out);
    }
}

#[test]
fn trails_go_where_they_are_told() {
    let scratch = Scratch::new().expect("a folder");
    let text = std::fs::read(folder().join("several.pml")).expect("model");
    let file = scratch.file("several.pml", &text);
    check(&[&file, "--trail", "--keep-going"]).expect(1).says("spin -t2 -p");
    for number in 1..=3 {
        assert!(scratch.path().join(format!("several.pml{number}.trail")).exists());
    }
    let named = scratch.path().join("mine.trail").display().to_string();
    check(&[&file, &format!("--trail={named}")]).expect(1).says("mine.trail");
    assert!(Path::new(&named).exists());
    for flag in ["--trail=/no/such/folder/x.trail", "--diagram=/no/such/folder/x.svg"] {
        let failed = check(&["broken.pml", flag]).expect(3);
        assert!(failed.err.contains("could not be written"), "{}", failed.err);
    }
    for args in [&["check", "-", "--trail"][..], &["find", "-", "x == 1", "--trail"]] {
        let refused = run(args).expect(3);
        assert!(refused.err.contains("name one, as in --trail=FILE"), "{args:?}: {}", refused.err);
    }
}

#[test]
fn a_file_for_one_model_is_refused_for_several() {
    let scratch = Scratch::new().expect("a folder");
    for (flag, name) in [("--trail", "x.trail"), ("--diagram", "x.svg"), ("--checkpoint", "x")] {
        let file = scratch.path().join(name).display().to_string();
        let models = ["broken.pml", "holds.pml", "--delay", "rtc"];
        let refused = check(&[&models[..], &[&format!("{flag}={file}")]].concat()).expect(3);
        assert!(refused.err.contains(flag) && refused.err.contains("several models"), "{}", refused.err);
        assert!(!Path::new(&file).exists());
    }
}
