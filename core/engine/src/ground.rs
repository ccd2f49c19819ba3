//! What a person can walk through step by step: a program as it is written, and what is watched beside it.

use crate::counterexample::Counterexample;
use crate::liveness::inquire;
use crate::load::Loaded;
use crate::plan::{Question, SAFETY, plan};
use crate::run::unknown_property;
use crate::safety::event_trace;
use crate::settings::Settings;
use fabius_base::{Code, Finding};
use fabius_program::{Program, Watch};
use std::sync::Arc;

/// A program, and what is watched beside it: the ground on which a run is walked step by step.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The program; a claim that is watched is part of it.
    pub program: Arc<Program>,
    /// What is watched.
    pub watch: Watch,
    /// The property that is asked about.
    pub property: String,
}

impl Ground {
    /// The model as it is written, with what the property asks about; without one, safety. Of the settings, fairness and
    /// what counts as progress matter.
    ///
    /// # Errors
    /// What is wrong with the model, or that it has no such property.
    pub fn of(loaded: &Loaded, property: Option<&str>, settings: &Settings) -> Result<Self, Box<Finding>> {
        let written = loaded.checkable().and_then(|_| loaded.as_written());
        let Some(written) = written.map(Arc::new) else { return Err(Box::new(wrong(loaded))) };
        let wishes: Vec<String> = property.map(str::to_owned).into_iter().collect();
        let plan = plan(&written, &wishes).map_err(|unknown| Box::new(unknown_property(&unknown)))?;
        let planned = plan.properties.first().filter(|_| property.is_some());
        match planned {
            Some(planned) if planned.question != Question::Safety => {
                let inquiry = inquire(&written, planned, settings)?;
                Ok(Self { program: inquiry.program, watch: inquiry.watch, property: planned.name.clone() })
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

/// Why a model cannot be run.
fn wrong(loaded: &Loaded) -> Finding {
    let error = loaded.findings.iter().find(|finding| finding.is_error());
    error.cloned().unwrap_or_else(|| Finding::new(Code::FileUnreadable, "this model cannot be run"))
}
