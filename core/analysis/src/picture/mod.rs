//! A picture of the model's own that moves with a run: a drawing (SVG) whose elements are bound to expressions of the model.

mod drawing;

use drawing::Drawing;
use fabius_counterexample::Counterexample;
use fabius_program::{Expr, Kind, Program};
use fabius_task::Loaded;
use fabius_task::condition::{condition, kind_of};
use fabius_witness::show::Names;
use fabius_witness::{Mover, State, look_along, value_of};
use serde::Serialize;
use std::collections::HashMap;

/// A drawing with what moves in it along a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MovingPicture {
    /// The drawing (SVG) as it is after the last step. An element with bindings has its number in the attribute `data-bound`.
    pub svg: String,
    /// What moves.
    pub bindings: Vec<Binding>,
}

/// What an expression decides in a drawing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Binding {
    /// The number of the element, from 0.
    pub element: usize,
    /// `text` (of the element), `value` (its attribute `data-value`), `shown`, or the name of an attribute of SVG.
    pub attribute: String,
    /// The expression, as the drawing writes it.
    pub expression: String,
    /// Its values along the run, each from a step on.
    pub values: Vec<ValueFrom>,
}

/// A value that an expression has from a step on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ValueFrom {
    /// The number of the step after which it has the value; 0 is the initial state.
    pub step: usize,
    /// The value as a person reads it; `None` where it cannot be computed.
    pub value: Option<String>,
}

/// A drawing along the run of a counterexample.
///
/// # Errors
/// Why it cannot be shown, in a sentence without its full stop: what is wrong with the drawing or one of its expressions, or that
/// the run is too long.
pub fn moving_picture(loaded: &Loaded, example: &Counterexample, svg: &str) -> Result<MovingPicture, String> {
    let drawing = Drawing::read(svg)?;
    let program = &*example.told;
    let mut read: HashMap<&str, (Expr, Option<Kind>)> = HashMap::new();
    for bound in &drawing.bound {
        if !read.contains_key(bound.expression.as_str()) {
            let expr = condition(loaded, program, &bound.expression)
                .map_err(|why| format!("`{}`: {why}", bound.expression))?;
            let kind = kind_of(program, &expr);
            read.insert(&bound.expression, (expr, kind));
        }
    }
    let mut bindings: Vec<Binding> = drawing
        .bound
        .iter()
        .map(|bound| Binding {
            element: bound.element,
            attribute: bound.attribute.clone(),
            expression: bound.expression.clone(),
            values: Vec::new(),
        })
        .collect();
    let mut step = None;
    look_along(program, example.watch, &example.trace, &mut |state, mover| {
        // A claim moves between the steps of the system, and changes nothing that a picture shows.
        if mover == Mover::System {
            let now = step.map_or(0, |step| step + 1);
            step = Some(now);
            for binding in &mut bindings {
                let (expr, kind) = &read[binding.expression.as_str()];
                binding.see(now, shown(program, state, expr, *kind));
            }
        }
    });
    if step.is_none() {
        return Err("the run is too long for a picture that moves".to_owned());
    }
    let last: Vec<Option<String>> =
        bindings.iter().map(|binding| binding.values.last().and_then(|value| value.value.clone())).collect();
    Ok(MovingPicture { svg: drawing.with(&last), bindings })
}

/// The value of an expression as a person reads it.
fn shown(program: &Program, state: &State, expr: &Expr, kind: Option<Kind>) -> Option<String> {
    let value = value_of(program, state, expr).ok()?;
    Some(kind.map_or_else(|| value.to_string(), |kind| Names::of(program, state).value(kind, value)))
}

impl Binding {
    fn see(&mut self, step: usize, value: Option<String>) {
        if self.values.last().is_none_or(|last| last.value != value) {
            self.values.push(ValueFrom { step, value });
        }
    }
}
