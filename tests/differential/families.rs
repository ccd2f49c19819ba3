//! The models of the families on which searches in the order of delays and depth were first measured: the correct version holds,
//! the seeded bug and the seeded livelock are found, by the ordinary searches, in the order of delays, and by Spin.

use fabius_testkit::spin::{Answer, InfiniteRun, Question, Spin};
use fabius_testkit::tool::{Report, Tool};
use fabius_testkit::{parallel, workspace};
use std::path::PathBuf;
use std::time::Duration;

const KILLED_AFTER: Duration = Duration::from_secs(400);

/// File, value of `N` that makes it small, and whether it has a livelock to switch on.
const FAMILIES: [(&str, u32, bool); 14] = [
    ("clocked_system", 2, false),
    ("device_driver", 2, false),
    ("elevator_door", 2, true),
    ("elevator_planning", 2, true),
    ("german", 2, false),
    ("lann", 3, true),
    ("lcr", 3, false),
    ("msmie", 2, false),
    ("or_set", 2, false),
    ("sync_bfs", 3, false),
    ("time_sync", 1, false),
    ("tree_identification", 3, true),
    ("truck_lift", 3, false),
    ("usb_hub", 2, false),
];

/// What a version of a model is switched to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Version {
    Correct,
    Bug,
    Livelock,
}

/// A model in one version.
#[derive(Clone, Debug)]
struct Family {
    name: &'static str,
    path: PathBuf,
    n: u32,
    version: Version,
    has_progress: bool,
}

impl Family {
    fn flags(&self) -> Vec<String> {
        let version = match self.version {
            Version::Correct => None,
            Version::Bug => Some("-DBUG".to_owned()),
            Version::Livelock => Some("-DLIVELOCK".to_owned()),
        };
        std::iter::once(format!("-DN={}", self.n)).chain(version).collect()
    }

    /// The text with its macros in it, for a tool that is not given any.
    fn text(&self) -> String {
        let text = std::fs::read_to_string(&self.path).expect("readable");
        let define = |flag: &String| match flag.trim_start_matches("-D").split_once('=') {
            Some((name, value)) => format!("#define {name} {value}\n"),
            None => format!("#define {}\n", flag.trim_start_matches("-D")),
        };
        self.flags().iter().map(define).collect::<String>() + &text
    }

    fn is_safe(&self) -> bool {
        self.version != Version::Bug
    }

    fn check(&self, tool: &Tool, flags: &[&str]) -> Result<Report, String> {
        let own = self.flags();
        let flags: Vec<&str> = own.iter().map(String::as_str).chain(flags.iter().copied()).collect();
        tool.check_all(&self.path, &flags)
    }

    /// Complains unless the property of this kind has the verdict that it should have.
    fn expect(&self, report: &Report, kind: &str, holds: bool) -> Result<(), String> {
        let property = report.properties.iter().find(|property| property.kind == kind);
        let verdict = property.map(|property| property.verdict.as_str());
        let wanted = if holds { "holds" } else { "violated" };
        match verdict == Some(wanted) {
            true => Ok(()),
            false => Err(format!("{kind}: {verdict:?} instead of {wanted}")),
        }
    }
}

fn families() -> Vec<Family> {
    let folder = workspace().join("models/families");
    let mut families = Vec::new();
    for (name, n, has_livelock) in FAMILIES {
        let path = folder.join(format!("{name}.pml"));
        let has_progress = std::fs::read_to_string(&path).expect("readable").contains("\nprogress");
        let version = |version| Family { name, path: path.clone(), n, version, has_progress };
        families.extend([version(Version::Correct), version(Version::Bug)]);
        families.extend(has_livelock.then(|| version(Version::Livelock)));
    }
    families
}

/// Does something with each version of each model, and fails with all complaints.
fn each(work: impl Fn(&Family) -> Result<(), String> + Sync) {
    let complaints: Vec<String> = parallel::map(&families(), |family| {
        let told = |why| format!("{} {:?}: {why}", family.name, family.version);
        work(family).err().map(told)
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_family_says_what_it_is() {
    let files = std::fs::read_dir(workspace().join("models/families")).expect("the folder");
    for file in files {
        let path = file.expect("an entry").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        let listed = FAMILIES.iter().find(|(listed, ..)| *listed == name);
        let (_, _, livelock) = *listed.unwrap_or_else(|| panic!("{name} is not in the table of this test"));
        let text = std::fs::read_to_string(&path).expect("readable");
        let head = text.split("*/").next().unwrap_or_default();
        assert!(head.starts_with("/* ") && head.contains("Holds: ") && head.contains("-DBUG"), "{name}: {head}");
        assert_eq!(livelock, head.contains("-DLIVELOCK"), "{name}: {head}");
        assert!(text.contains("#ifndef N\n"), "{name} has no parameter");
    }
}

#[test]
fn the_tool_finds_what_was_seeded_and_nothing_else() {
    let tool = Tool::new(env!("CARGO_BIN_EXE_fabius")).within(KILLED_AFTER);
    each(|family| {
        let report = family.check(&tool, &[])?;
        family.expect(&report, "safety", family.is_safe())?;
        if family.has_progress && family.is_safe() {
            family.expect(&report, "progress", family.version == Version::Correct)?;
        }
        Ok(())
    });
}

#[test]
fn so_does_the_search_in_the_order_of_delays() {
    let tool = Tool::new(env!("CARGO_BIN_EXE_fabius")).within(KILLED_AFTER);
    each(|family| match family.version {
        Version::Correct => Ok(()),
        Version::Bug => ["rtc", "rr", "random"].iter().try_for_each(|scheduler| {
            let report = family.check(&tool, &["--property", "safety", "--delay", scheduler])?;
            family.expect(&report, "safety", false).map_err(|why| format!("{scheduler}: {why}"))
        }),
        Version::Livelock => {
            let report = family.check(&tool, &["--property", "progress", "--delay", "auto"])?;
            family.expect(&report, "progress", false)
        }
    });
}

#[test]
fn spin_agrees() {
    let Some(spin) = Spin::find().map(|spin| spin.within(KILLED_AFTER)) else { return };
    let agrees = |answer, violated: bool| match answer {
        Answer::Run(run) if violated == (run.errors > 0) && (violated || run.complete) => Ok(()),
        other => Err(format!("{other:?}")),
    };
    each(|family| {
        let text = family.text();
        let question = Question { optimised: true, keep_going: false, lossy: false, depth_max: 1_000_000 };
        agrees(spin.ask(&text, question), !family.is_safe())?;
        if family.has_progress && family.is_safe() {
            agrees(spin.ask_infinite(&text, InfiniteRun::Progress, false), family.version == Version::Livelock)?;
        }
        Ok(())
    });
}
