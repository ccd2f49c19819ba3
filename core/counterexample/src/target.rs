//! What a person can walk through step by step: a program as it is written, and what is watched beside it.

use crate::{Counterexample, elaborate};
use fabius_base::{Code, Finding};
use fabius_program::{Move, Program, Watch};
use fabius_task::load::Loaded;
use fabius_task::plan::{Question, SAFETY, plan, unknown_property};
use fabius_task::query::{CycleSearch, event_trace, liveness_query};
use fabius_task::settings::Settings;
use fabius_witness::format::trail;
use fabius_witness::{Claim, CycleClaim};
use std::sync::Arc;

/// A program, and what is watched beside it: that on which a run is walked step by step.
#[derive(Clone, Debug)]
pub struct ExplorationTarget {
    /// The program; a claim that is watched is part of it.
    pub program: Arc<Program>,
    /// What is watched.
    pub watch: Watch,
    /// The property that is asked about.
    pub property: String,
}

impl ExplorationTarget {
    /// The model as it is written, with what the property asks about; without one, safety. Of the settings, fairness and
    /// what counts as progress matter.
    ///
    /// # Errors
    /// What is wrong with the model, or that it has no such property.
    pub fn of(loaded: &Loaded, property: Option<&str>, settings: &Settings) -> Result<Self, Box<Finding>> {
        let written = loaded.checkable().and_then(|_| loaded.as_written());
        let Some(written) = written else { return Err(Box::new(wrong(loaded))) };
        let selectors: Vec<String> = property.map(str::to_owned).into_iter().collect();
        let plan = plan(&written, &selectors).map_err(|unknown| Box::new(unknown_property(&unknown)))?;
        let planned = plan.properties.first().filter(|_| property.is_some());
        match planned {
            Some(planned) if planned.question != Question::Safety => {
                let query = liveness_query(&written, planned, settings, CycleSearch::answering(planned, settings))?;
                Ok(Self { program: query.program, watch: query.watch, property: planned.name.clone() })
            }
            _ => {
                let watch = Watch { trace: event_trace(&written), ..Watch::NOTHING };
                Ok(Self { program: written, watch, property: SAFETY.to_owned() })
            }
        }
    }

    /// That of a counterexample: the program that its trace tells of.
    pub fn under(example: &Counterexample, property: &str) -> Self {
        Self { program: Arc::clone(&example.told), watch: example.watch, property: property.to_owned() }
    }
}

/// A run of an exploration target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Its moves.
    pub path: Vec<Move>,
    /// How many of them come before its loop, if it runs into one.
    pub loop_start: Option<usize>,
}

/// Reads a trail, which Spin wrote or this tool, as a run of the model as it is written. A trail tells of merged
/// statements, as Spin merges them, unless its header says otherwise.
///
/// # Errors
/// What is wrong with the model, or the first line that cannot be followed, in a sentence.
pub fn read_trail(loaded: &Loaded, property: Option<&str>, text: &str) -> Result<(ExplorationTarget, Run), String> {
    let target = ExplorationTarget::of(loaded, property, &Settings::default()).map_err(|finding| finding.headline)?;
    let system = Watch { claim: None, ..target.watch };
    let searched = loaded.program.as_deref().filter(|program| program.merged);
    let merged = searched.and_then(|searched| {
        let run = trail::read_trail(searched, system, text).ok()?;
        let claim = match run.cycle_start {
            Some(start) => Claim::Cycle { start, shows: CycleClaim::NOTHING },
            None => Claim::Reaches,
        };
        let elaborated = elaborate(searched, &target.program, system, &run.path, claim)?;
        let loop_start = match elaborated.claim {
            Claim::Cycle { start, .. } => Some(start),
            _ => None,
        };
        Some(Run { path: elaborated.path, loop_start })
    });
    let plain = || -> Result<Run, String> {
        let run = trail::read_trail(&target.program, system, text)?;
        Ok(Run { path: run.path, loop_start: run.cycle_start })
    };
    let run = merged.map_or_else(plain, Ok)?;
    // The trail says nothing of how our automaton moves beside it.
    Ok((ExplorationTarget { watch: system, ..target }, run))
}

/// Why a model cannot be run.
fn wrong(loaded: &Loaded) -> Finding {
    let error = loaded.findings.iter().find(|finding| finding.is_error());
    error.cloned().unwrap_or_else(|| Finding::new(Code::FileUnreadable, "this model cannot be run"))
}
