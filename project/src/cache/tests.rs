//! What is told of known violations, compared with what a fresh check tells; and entries that are damaged, changed or about something else.

use super::*;
use fabius_base::{Cancel, Limits};
use fabius_engine::settings::ThreadCount;
use fabius_engine::{Cycles, Delaying, Fairness, Order, load, suited};
use fabius_testkit::generate::{self, claim, small};
use fabius_testkit::scratch::Scratch;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};

/// Random models of each kind.
const MODELS: u64 = 60;

/// A process that holds one of two locks while it waits for the other one.
const DEADLOCK: &str = "bool a, b;\n\
    active proctype P() { atomic { !a -> a = 1 } atomic { !b -> b = 1 } a = 0; b = 0 }\n\
    active proctype Q() { atomic { !b -> b = 1 } atomic { !a -> a = 1 } a = 0; b = 0 }\n";
/// An infinite run violates both the formula and progress.
const LOOPS: &str = "byte x;\nltl p { []<> (x == 2) }\n\
    active proctype P() { do :: x = 1 :: x = 2; progress: x = 0 od }\n";

#[test]
fn dates_are_those_of_the_calendar() {
    let of = |seconds: u64| date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    assert_eq!(of(0), "1970-01-01 00:00");
    assert_eq!(of(951_782_399), "2000-02-28 23:59");
    assert_eq!(of(951_782_400), "2000-02-29 00:00");
    assert_eq!(of(4_107_542_400), "2100-03-01 00:00");
    assert_eq!(of(1_798_761_599), "2026-12-31 23:59");
}

#[test]
fn an_entry_is_believed_only_whole_and_about_its_subject() {
    let entry = json!({ "of": "model p", "report": { "states": 70 } });
    let written = sealed(&entry);
    assert_eq!(checked(&written, "model p"), Some(entry));
    assert_eq!(checked(&written, "model q"), None);
    assert_eq!(checked(&written.replace("70", "71"), "model p"), None);
    assert_eq!(checked(&written[..written.len() - 1], "model p"), None);
    assert_eq!(checked("", "model p"), None);
}

/// What is done to an entry.
type Change<'a> = &'a dyn Fn(&mut Value);

/// A cache in a folder that is removed with it.
struct Tried {
    cache: Cache,
    _scratch: Scratch,
}

impl Tried {
    fn new() -> Self {
        let scratch = Scratch::new().expect("a folder");
        Self { cache: Cache::at(scratch.path()), _scratch: scratch }
    }

    fn look_up(&self, loaded: &Loaded, settings: &Settings) -> Option<Outcome> {
        self.look_up_until(loaded, settings, &Cancel::new())
    }

    fn look_up_until(&self, loaded: &Loaded, settings: &Settings, cancel: &Cancel) -> Option<Outcome> {
        let mut context = CheckContext { cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
        self.cache.look_up(loaded, settings, &mut context)
    }

    /// Checks a model and remembers what came of it, as if it had taken long.
    fn search(&self, loaded: &Loaded, settings: &Settings) -> Outcome {
        self.search_for(loaded, settings, Ended { took: Duration::from_secs(1), is_cut_short: false })
    }

    fn search_for(&self, loaded: &Loaded, settings: &Settings, ended: Ended) -> Outcome {
        let cancel = Cancel::new();
        let mut context =
            CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
        let outcome = check(loaded, settings, &mut context);
        self.cache.remember(loaded, settings, &outcome, ended);
        outcome
    }

    fn entries(&self) -> Vec<PathBuf> {
        let inside = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        inside(self.cache.folder.clone()).flat_map(inside).collect()
    }

    /// Changes every entry, which stays whole, and says of how many that is true.
    fn tamper(&self, change: Change<'_>) -> usize {
        let entries = self.entries();
        for path in &entries {
            let text = fs::read_to_string(path).expect("an entry");
            let mut entry: Value =
                serde_json::from_str(text.split_once('\n').expect("a checksum").1).expect("an entry");
            change(&mut entry);
            fs::write(path, sealed(&entry)).expect("it can be written");
        }
        entries.len()
    }
}

fn read(text: &str, settings: &Settings) -> Loaded {
    load("m.pml", text.to_owned(), &[], &mut |_, _| None, settings)
}

/// A report but for the time of the run whose result it is.
fn figures(outcome: &Outcome) -> Value {
    let mut report = json!(outcome.report);
    let properties = report["properties"].as_array_mut().expect("properties").iter_mut();
    properties.for_each(|property| drop(property.as_object_mut().expect("a report").remove("cached")));
    report
}

/// All that a person may see of an outcome, beside its report.
fn shown(outcome: &Outcome, loaded: &Loaded) -> impl PartialEq + Debug + use<> {
    let example = |example: &fabius_engine::Counterexample| {
        let run = format!("{:?} {:?} {:?}", example.finding, example.trace, example.watch);
        (run, example.trail(loaded), example.beyond_run.clone())
    };
    let examples: Vec<_> = outcome.counterexamples.iter().map(example).collect();
    (examples, format!("{:?}", outcome.findings))
}

/// What is wrong with what a cache tells of a model that was just checked; the number of violations that it told.
fn compare(text: &str, settings: &Settings) -> Result<usize, String> {
    let (tried, loaded) = (Tried::new(), read(text, settings));
    let settings = &suited(&loaded, settings);
    let fresh = tried.search(&loaded, settings);
    // The same meaning, at other places.
    for text in [text.to_owned(), format!("/* a comment */\n\n{text}")] {
        let loaded = read(&text, settings);
        let Some(known) = tried.look_up(&loaded, settings) else { continue };
        let fresh = Tried::new().search(&loaded, settings);
        if figures(&known) != figures(&fresh) {
            return Err(format!("known: {:#}\nfresh: {:#}\n{text}", figures(&known), figures(&fresh)));
        }
        if shown(&known, &loaded) != shown(&fresh, &loaded) {
            return Err(format!("{:?}\n{:?}\n{text}", shown(&known, &loaded), shown(&fresh, &loaded)));
        }
        if known.report.properties.iter().any(|property| property.cached.is_none()) {
            return Err(format!("it does not say that it is known: {text}"));
        }
    }
    let known = tried.look_up(&loaded, settings);
    let violated = |outcome: &Outcome| outcome.counterexamples.len();
    // What a check decides is known afterwards, unless there is more to tell of it.
    let decided = fresh.report.properties.iter().all(|property| is_proof(property) || is_violation(property));
    let plain = fresh.findings.iter().all(|finding| finding.code == Code::Unreached);
    let is_final = |example: &fabius_engine::Counterexample| example.beyond_run.is_final();
    let complete = settings.limits.states_max.is_none() || fresh.counterexamples.iter().all(is_final);
    if loaded.checkable().is_some()
        && decided
        && plain
        && complete
        && fresh.failure.is_none()
        && settings.delaying.is_none()
        && known.is_none()
    {
        return Err(format!("it is not known: {:#}\n{text}", figures(&fresh)));
    }
    Ok(known.as_ref().map_or(0, violated))
}

/// Different questions.
fn questions() -> Vec<Settings> {
    let plain = Settings::default();
    vec![
        plain.clone(),
        Settings { schedule: true, ..plain.clone() },
        Settings { search: Order::BreadthFirst, ..plain.clone() },
        Settings { search: Order::DepthFirst, optimize: false, ..plain.clone() },
        Settings { fairness: Fairness::Weak, ..plain.clone() },
        Settings { cycles: Cycles::NestedDfs, ..plain.clone() },
        Settings { delaying: Some(Delaying::default()), ..plain },
    ]
}

#[test]
fn what_is_told_of_random_models_is_what_a_fresh_check_tells() {
    let model = |seed: u64| match seed % 4 {
        0 => generate::model(seed).text(),
        1 => generate::model_with_faults(seed).text(),
        2 => claim::model_with_claim(seed).text(),
        _ => format!("{}\nltl p {{ {} }}\n", small::model(seed), small::formula(seed)),
    };
    let questions = questions();
    let mut known = vec![0; questions.len()];
    for seed in 0..4 * MODELS {
        let at = seed as usize / 4 % questions.len();
        // A large one may have no verdict.
        let limits = Limits { states_max: (seed % 8 < 4).then_some(20_000), ..Limits::default() };
        let settings = Settings { limits, ..questions[at].clone() };
        known[at] += compare(&model(seed), &settings).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
    }
    assert!(known.iter().all(|count| 5 < *count), "violations by question: {known:?}");
}

#[test]
fn what_is_told_of_violations_of_each_kind_is_what_a_fresh_check_tells() {
    let assertion = "byte x;\nactive [2] proctype P() { x = x + 1; assert(x < 2) }\n";
    let fault = "byte a[2];\nactive proctype P() { byte i; do :: i < 3 -> a[i] = 1; i++ od }\n";
    let finite = "byte x;\nltl p { [] (x < 2) }\nactive proctype P() { do :: x++ od }\n";
    let trace = "chan q = [1] of { bit };\ntrace { do :: q!1; q!0 od }\nactive proctype P() { q!1; q?_; q!1 }\n";
    let labels = "active proctype P() { accept: do :: skip od }\n";
    for text in [DEADLOCK, LOOPS, assertion, fault, finite, trace, labels] {
        let known = questions()
            .into_iter()
            .enumerate()
            .map(|(at, settings)| compare(text, &settings).unwrap_or_else(|wrong| panic!("question {at}: {wrong}")));
        // A check that tells which flags have no effect is not remembered.
        assert!(4 < known.filter(|known| 0 < *known).count(), "{text}");
    }
}

/// Checks a model of which one property is known, and compares with a fresh check; whether only the others were searched.
fn compare_with_one_known(text: &str, settings: &Settings) -> Vec<bool> {
    let loaded = read(text, settings);
    let fresh = Tried::new().search(&loaded, settings);
    let about = |outcome: &Outcome| {
        let of = |property: &PropertyReport| {
            (property.name.clone(), property.verdict, property.exhaustive, property.violations.len())
        };
        let found: BTreeSet<_> = outcome.findings.iter().map(|finding| finding.headline.clone()).collect();
        let reported: BTreeSet<_> = outcome.report.findings.iter().map(|finding| finding.message.clone()).collect();
        let properties: Vec<_> = outcome.report.properties.iter().map(of).collect();
        (properties, outcome.report.verdict, outcome.report.exhaustive, found, reported)
    };
    let mut saved = Vec::new();
    for known in &fresh.report.properties {
        let tried = Tried::new();
        tried.search(&loaded, &Settings { properties: vec![known.name.clone()], ..settings.clone() });
        let is_kept = !tried.entries().is_empty();
        let (cancel, mut searched) = (Cancel::new(), BTreeSet::new());
        let mut observe = |event| {
            if let fabius_engine::Event::Searching { property, .. } = event {
                searched.insert(property);
            }
        };
        let mut context =
            CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe, controls: None };
        let outcome = Cache::check(Some(&tried.cache), &loaded, settings, &mut context);
        assert_eq!(about(&outcome), about(&fresh), "{} known, {settings:?}\n{text}", known.name);
        assert_eq!(outcome.counterexamples.len(), fresh.counterexamples.len());
        let violations = outcome.report.properties.iter().flat_map(|property| &property.violations);
        assert!(violations.eq(outcome.counterexamples.iter().map(|example| &example.report)), "{text}");
        let cached = |property: &&PropertyReport| property.cached.is_some();
        let cached: Vec<&str> =
            outcome.report.properties.iter().filter(cached).map(|property| property.name.as_str()).collect();
        let is_saved = cached == [known.name.as_str()];
        assert!(is_saved || cached.is_empty() && (known.name == SAFETY || !is_kept), "{cached:?} {known:?}\n{text}");
        assert!(!is_saved || !searched.contains(&known.name), "{} is known\n{text}", known.name);
        saved.push(is_saved);
    }
    saved
}

#[test]
fn what_is_known_of_a_check_is_told_with_what_is_searched() {
    let (mut saved, mut searched) = (0, 0);
    let of_labels = "byte x; active proctype P() { do :: x < 9 -> x++ :: x == 9 -> x = 0 od; progress: skip }\n\
        ltl p { []<> (x == 0) } ltl q { [] (x < 10) } ltl r { <> (x == 12) }\n";
    let formulas =
        |seed: u64| format!("ltl p {{ {} }}\nltl q {{ {} }}\n", small::formula(seed), small::formula(seed + 500));
    let model = |seed: u64| format!("{}\n{}", small::model(seed), formulas(seed));
    for text in (0..MODELS).map(model).chain([LOOPS.to_owned(), of_labels.to_owned()]) {
        for settings in [Settings::default(), Settings { keep_going: true, ..Settings::default() }] {
            for is_saved in compare_with_one_known(&text, &settings) {
                assert!(!is_saved || !settings.keep_going);
                saved += usize::from(is_saved);
                searched += usize::from(!is_saved);
            }
        }
    }
    assert!(30 < saved && 0 < searched, "{saved} {searched}");
}

#[test]
fn a_formula_that_is_added_leaves_the_others_known() {
    let model = "byte x, y; active proctype P() { do :: x < 9 -> x++ :: x == 9 -> x = 0; y = 1 - y od }\nltl p { []<> (x == 0 && y < 2) }\n";
    let settings = Settings::default();
    let tried = Tried::new();
    tried.search(&read(model, &settings), &settings);
    let known = |text: &str| {
        let (loaded, cancel) = (read(text, &settings), Cancel::new());
        let mut context =
            CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
        let outcome = Cache::check(Some(&tried.cache), &loaded, &settings, &mut context);
        let known = outcome.report.properties.into_iter().filter(|property| property.cached.is_some());
        known.map(|property| property.name).collect::<Vec<_>>()
    };
    assert_eq!(known(model), ["safety", "p"]);
    assert_eq!(known(&format!("{model}ltl q {{ [] (x < 10) }}\n")), ["safety", "p"]);
    // The formula itself is another one.
    assert_eq!(known(&model.replace("y < 2", "y < 3")), ["safety"]);
    // So is the model.
    assert!(known(&model.replace("x == 9 ->", "x > 8 ->")).is_empty());
}

#[test]
fn another_model_or_question_is_searched() {
    let (tried, plain) = (Tried::new(), Settings::default());
    let loaded = read(DEADLOCK, &plain);
    tried.search(&loaded, &plain);
    let limited = |limits: Limits| Settings { limits, ..plain.clone() };
    let same = [
        plain.clone(),
        Settings { threads: ThreadCount::UpTo(8), ..plain.clone() },
        Settings { until: Some(Duration::from_secs(9)), properties: vec!["safety".to_owned()], ..plain.clone() },
        // It is looked for now.
        Settings { schedule: true, ..plain.clone() },
        limited(Limits { states_max: Some(1_000), ..Limits::default() }),
    ];
    let others = [
        Settings { threads: ThreadCount::Exactly(2), ..plain.clone() },
        Settings { search: Order::BreadthFirst, ..plain.clone() },
        Settings { search: Order::DepthFirst, ..plain.clone() },
        Settings { keep_going: true, ..plain.clone() },
        Settings { delaying: Some(Delaying::default()), ..plain.clone() },
        Settings { reduction: false, ..plain.clone() },
        Settings { clarify_transitions_max: 5, ..plain.clone() },
        limited(Limits { depth_max: Some(1_000), ..Limits::default() }),
        limited(Limits { states_max: Some(2), ..Limits::default() }),
    ];
    same.iter().for_each(|settings| assert!(tried.look_up(&loaded, settings).is_some(), "{settings:?}"));
    others.iter().for_each(|settings| assert!(tried.look_up(&loaded, settings).is_none(), "{settings:?}"));
    let other = read(&DEADLOCK.replace("a = 0; b = 0", "b = 0; a = 0"), &plain);
    assert!(tried.look_up(&other, &plain).is_none());
    // Whoever stops it is not told half of the answer.
    let stopped = Cancel::new();
    stopped.cancel();
    assert!(tried.look_up_until(&loaded, &Settings { schedule: true, ..plain }, &stopped).is_none());
}

#[test]
fn a_proof_under_schedules_that_keep_to_seals_is_none_without_them() {
    let sealed = "byte x;\nactive proctype P() { /*@ seal rtc */ x = 1; x = 0 /*@ unseal */ }\n\
        active proctype Q() { assert(x == 0) }\n";
    let (tried, settings) = (Tried::new(), Settings { delaying: Some(Delaying::default()), ..Settings::default() });
    let verdict = |text: &str| {
        let loaded = read(text, &settings);
        let known = tried.look_up(&loaded, &settings);
        known.unwrap_or_else(|| tried.search(&loaded, &settings)).report.verdict
    };
    assert_eq!(verdict(sealed), Verdict::Holds);
    assert_eq!(verdict(&sealed.replace("/*@ seal rtc */", "").replace("/*@ unseal */", "")), Verdict::Violated);
}

#[test]
fn where_a_comment_moves_a_statement_it_is_told_at_its_new_place() {
    let (tried, settings) = (Tried::new(), Settings { schedule: true, ..Settings::default() });
    tried.search(&read(DEADLOCK, &settings), &settings);
    let lines = |text: &str| {
        let loaded = read(text, &settings);
        let known = tried.look_up(&loaded, &settings).expect("it is known");
        let safety = json!(known.report.properties[0]);
        let (violation, schedule) = (&safety["violations"][0], &safety["schedule"]);
        [
            violation["line"].clone(),
            violation["trace"][0]["line"].clone(),
            schedule["waits"][0]["where"]["line"].clone(),
        ]
    };
    let before = lines(DEADLOCK).map(|line| line.as_u64().expect("a line"));
    let after = lines(&format!("\n\n// A comment.\n{DEADLOCK}")).map(|line| line.as_u64().expect("a line"));
    assert_eq!(after, before.map(|line| line + 3));
}

#[test]
fn a_run_that_is_not_confirmed_is_discarded() {
    let settings = Settings { properties: vec!["safety".to_owned()], ..Settings::default() };
    let loaded = read(DEADLOCK, &settings);
    let changes: [(&str, Change<'_>); 7] = [
        ("a step less", &|entry| {
            let path = entry["run"]["path"].as_str().expect("a path");
            entry["run"]["path"] = json!(path.rsplit_once(',').expect("steps").0);
        }),
        ("a step that there is not", &|entry| entry["run"]["path"] = json!("0.0,7.999")),
        ("no path", &|entry| entry["run"]["path"] = json!("here and there")),
        ("another violation", &|entry| entry["run"]["wrong"] = json!({ "Fault": "AssertionFailed" })),
        ("a loop", &|entry| entry["run"]["wrong"] = json!({ "Loop": [99, "non_progress_cycle"] })),
        ("no run", &|entry| entry["run"] = Value::Null),
        ("something else is known of it", &|entry| entry["run"]["shorter"] = json!("CutShort")),
    ];
    for (what, change) in changes {
        let tried = Tried::new();
        tried.search(&loaded, &settings);
        assert!(tried.look_up(&loaded, &settings).is_some());
        assert_eq!(tried.tamper(change), 1);
        assert!(tried.look_up(&loaded, &settings).is_none(), "{what}");
        assert!(tried.entries().is_empty(), "{what}");
    }
    // What was found out by a search, and cannot be seen from the run, is protected by a checksum.
    let tried = Tried::new();
    tried.search(&loaded, &settings);
    for path in tried.entries() {
        let text = fs::read_to_string(&path).expect("an entry");
        fs::write(&path, text.replace("\"states\":", "\"states\":1")).expect("it can be written");
    }
    assert!(tried.look_up(&loaded, &settings).is_none());
}

#[test]
fn a_loop_that_does_not_close_is_discarded() {
    let settings = Settings { properties: vec!["p".to_owned()], ..Settings::default() };
    let (tried, loaded) = (Tried::new(), read(LOOPS, &settings));
    tried.search(&loaded, &settings);
    assert!(tried.look_up(&loaded, &settings).is_some());
    let start = |entry: &mut Value| entry["run"]["wrong"]["Loop"][0] = json!(0);
    assert_eq!(tried.tamper(&start), 1);
    assert!(tried.look_up(&loaded, &settings).is_none());
    assert!(tried.entries().is_empty());
}

#[test]
fn what_is_short_or_was_stopped_is_not_remembered() {
    let settings = Settings::default();
    let loaded = read(DEADLOCK, &settings);
    let tried = Tried::new();
    tried.search_for(&loaded, &settings, Ended { took: Duration::from_millis(1), is_cut_short: false });
    assert!(tried.entries().is_empty());
    // What a search finds out about a run is as true where it was stopped afterwards, but for what it did not come to.
    let long = Duration::from_secs(1);
    let clear = Settings { clarify_transitions_max: 0, ..settings.clone() };
    let stopped = tried.search_for(&loaded, &clear, Ended { took: long, is_cut_short: true });
    let is_final = stopped.counterexamples[0].beyond_run.is_final();
    assert_eq!(tried.entries().is_empty(), !is_final);
    // All violations of a model are not the first one.
    let tried = Tried::new();
    tried.search(&loaded, &Settings { keep_going: true, ..settings });
    assert!(tried.entries().is_empty());
}

#[test]
fn a_check_that_somebody_steers_neither_asks_nor_writes() {
    let tried = Tried::new();
    let settings = Settings { schedule: false, ..Settings::default() };
    let loaded = read(DEADLOCK, &settings);
    let clock = AtomicU64::new(1);
    let now = || Duration::from_secs(clock.fetch_add(1, Ordering::Relaxed));
    let ask = |depth: Option<u64>| {
        let (cancel, controls) = (Cancel::new(), Controls::new());
        depth.into_iter().for_each(|max| controls.bound_depth(Some(max)));
        let mut context = CheckContext { cancel: &cancel, now: &now, observe: &mut |_| {}, controls: Some(&controls) };
        Cache::check(Some(&tried.cache), &loaded, &settings, &mut context).report.properties[0].clone()
    };
    assert_eq!((ask(Some(100)).verdict, tried.entries().len()), (Verdict::Violated, 0));
    assert_eq!((ask(None).cached, tried.entries().len()), (None, 1));
    assert!(ask(None).cached.is_some());
    let bounded = ask(Some(1));
    assert_eq!((bounded.cached, bounded.verdict), (None, Verdict::Undecided));
}
