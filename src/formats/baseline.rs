//! `--baseline`: what an earlier check found is known, and only what is new fails.
//!
//! Safety is explored to its end, since a known violation must not hide a new one. The searches for infinite runs end with
//! the first one, so such a property is violated or not, whatever the run.

use super::Checked;
use super::identity::{Identity, KnownReport, Problem};
use crate::{exit, output};
use clap::Args;
use fabius_base::Code;
use fabius_engine::words::counted;
use fabius_engine::{Outcome, Report};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

// The flags about a baseline.
#[derive(Args, Debug, Clone, Default)]
pub struct BaselineFlags {
    /// Fail only for violations that this file does not have: a report of an earlier check (--json), or what
    /// --write-baseline wrote. Implies --keep-going.
    #[arg(long, value_name = "FILE", conflicts_with = "events", help_heading = "Output")]
    pub baseline: Option<PathBuf>,

    /// Write the violations found to this file, for --baseline. Implies --keep-going.
    #[arg(long, value_name = "FILE", conflicts_with = "events", help_heading = "Output")]
    pub write_baseline: Option<PathBuf>,
}

impl BaselineFlags {
    /// Whether the models are compared with a baseline, or become one.
    pub fn is_used(&self) -> bool {
        self.baseline.is_some() || self.write_baseline.is_some()
    }

    /// Leaves out that --keep-going, which nobody asked for, has no effect on a property.
    pub fn forget_implied(&self, outcome: &mut Outcome) {
        let implied = |code: &str, headline: &str| {
            self.is_used() && code == Code::WithoutEffect.as_str() && headline.ends_with(": `--keep-going`")
        };
        outcome.findings.retain(|finding| !implied(finding.code.as_str(), &finding.headline));
        outcome.report.findings.retain(|finding| !implied(finding.code, &finding.message));
    }

    /// The baseline to compare with.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn read(&self) -> Result<Option<Baseline>, String> {
        self.baseline.as_deref().map(Baseline::read).transpose()
    }

    /// Writes a baseline, if that is asked for; returns what there is to say, and the exit code.
    pub fn write(&self, checked: &[Checked], complete: bool) -> (String, u8) {
        let Some(path) = &self.write_baseline else { return (String::new(), 0) };
        let unfinished = |model: &Checked| exit::FAULTY <= exit::of_report(&model.report);
        if !complete || checked.iter().any(unfinished) {
            return ("the baseline was not written, since not all models were checked\n".to_owned(), 0);
        }
        let reports: Vec<&KnownReport> = checked.iter().map(|model| &model.known).collect();
        let text = serde_json::to_string_pretty(&reports).unwrap_or_default() + "\n";
        match std::fs::write(path, text) {
            Ok(()) => {
                let problems: usize = reports.iter().map(|report| report.problems().len()).sum();
                let violations = counted(problems as u64, "violation");
                (format!("baseline with {violations} written to {}\n", path.display()), 0)
            }
            Err(error) => {
                output::complain(&format!("error: cannot write {}: {error}", path.display()));
                (String::new(), exit::FAULTY)
            }
        }
    }
}

/// What an earlier check found.
#[derive(Clone, Debug)]
pub struct Baseline {
    name: String,
    reports: Vec<KnownReport>,
}

impl Baseline {
    fn read(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        let help = "help: --write-baseline writes such a file, and so does --json";
        let text =
            std::fs::read_to_string(path).map_err(|why| format!("cannot read the baseline {name}: {why}\n{help}"))?;
        let parsed = serde_json::from_str(&text).and_then(|value| match value {
            Value::Array(_) => serde_json::from_value(value),
            one => serde_json::from_value(one).map(|report| vec![report]),
        });
        let reports = parsed.map_err(|why| format!("{name} is no baseline: {why}\n{help}"))?;
        Ok(Self { name, reports })
    }

    /// What is known of a model; `None` if it was not checked.
    fn of(&self, report: &KnownReport) -> Option<&KnownReport> {
        self.reports.iter().find(|known| known.is_about(report))
    }

    /// Marks what is known in all models; says what is known, new and gone.
    pub fn apply(&self, checked: &mut [Checked]) -> String {
        let (mut lines, mut counts, mut cut_short) = (String::new(), [0; 3], false);
        for model in checked {
            let before = self.of(&model.known).map(KnownReport::problems).unwrap_or_default();
            model.baseline_is_short = self.of(&model.known).is_some_and(KnownReport::is_cut_short);
            cut_short |= model.baseline_is_short;
            let known: HashSet<Identity> = before.iter().map(|problem| problem.identity.clone()).collect();
            let now = model.known.problems();
            let here: HashSet<&Identity> = now.iter().map(|problem| &problem.identity).collect();
            let mut say = |at: usize, word: &str, problem: &Problem| {
                counts[at] += 1;
                if 0 < at {
                    let _ = writeln!(lines, "  {word:<5} {}", problem.text);
                }
            };
            for problem in &now {
                let is_known = known.contains(&problem.identity);
                say(usize::from(!is_known), if is_known { "known" } else { "new" }, problem);
            }
            // What was not found is gone only if everything was looked at.
            let gone = before.iter().filter(|problem| !here.contains(&problem.identity));
            for problem in gone {
                let looked = is_decided(&model.report, &problem.property);
                say(2, if looked { "gone" } else { "open" }, problem);
            }
            model.accepted = Some(known);
        }
        let [known, new, gone] = counts;
        let mut text = format!("baseline {}: {known} known, {new} new, {gone} no longer found\n{lines}", self.name);
        if cut_short && 0 < new {
            text.push_str("  the baseline is of a check that stopped at the first violation: what is new here may be as old; --write-baseline writes a complete one\n");
        }
        text
    }
}

/// Whether everything was looked at that decides a property, or the model does not have it any more.
fn is_decided(report: &Report, property: &str) -> bool {
    let found = report.properties.iter().find(|known| known.name == property);
    report.internal_error.is_none() && !report.properties.is_empty() && found.is_none_or(|found| found.exhaustive)
}
