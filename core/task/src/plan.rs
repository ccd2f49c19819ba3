//! Which properties of a model are looked at, and which question each of them asks.

use crate::report::PropertyClass;
use fabius_base::{Code, Finding};
use fabius_program::{Program, Property, PropertyKind};

/// The name of the property that every model has.
pub const SAFETY: &str = "safety";

/// What is asked about the runs of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Can an assertion fail, the processes get stuck, an evaluation go wrong, a message break the event trace?
    Safety,
    /// Can a run go on for ever without progress?
    Progress,
    /// Can a run pass acceptance labels for ever?
    Acceptance,
    /// Can a run violate the formula, or match the claim?
    Claim,
}

impl Question {
    /// The kind of the properties that ask it, as on the command line.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Safety => PropertyClass::Safety.as_str(),
            Self::Progress => PropertyClass::Progress.as_str(),
            Self::Acceptance => PropertyClass::Acceptance.as_str(),
            Self::Claim => PropertyClass::Ltl.as_str(),
        }
    }
}

/// A property, and what is to be done about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// Its name.
    pub name: String,
    /// What kind of property it is.
    pub kind: PropertyClass,
    /// What it asks.
    pub question: Question,
    /// Whether a person asked for it by name or kind.
    pub asked: bool,
}

/// The properties to be looked at, in the order of reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// All that were asked for; without a selector, all that the model has.
    pub properties: Vec<Planned>,
}

/// A selector that no property of the model fits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownProperty {
    /// The selector.
    pub selector: String,
    /// What there is.
    pub available: Vec<String>,
}

/// Decides what is to be looked at: safety and every property of the program, or those of them that
/// were asked for by name or kind. A word that is the name of a property means that property, even if
/// it is the word for a kind too.
///
/// # Errors
/// If a selector is neither a kind nor the name of a property of this program.
pub fn plan(program: &Program, selectors: &[String]) -> Result<Plan, UnknownProperty> {
    let mut properties = vec![planned(SAFETY, PropertyClass::Safety, Question::Safety)];
    let is_safety = |property: &&Property| matches!(property.kind, PropertyKind::Safety | PropertyKind::Trace(_));
    let declared = program.properties.iter().filter(|property| !is_safety(property));
    properties.extend(declared.map(|property| planned(&property.name, class_of(property), question_of(property))));
    for selector in selectors {
        let is_name = properties.iter().any(|property| property.name == *selector);
        let fits = |property: &Planned| property.name == *selector || (!is_name && property.kind.as_str() == selector);
        let is_kind = ["safety", "progress", "acceptance", "ltl"].contains(&selector.as_str());
        if !is_kind && !properties.iter().any(fits) {
            let available = properties.iter().map(|property| property.name.clone()).collect();
            return Err(UnknownProperty { selector: selector.clone(), available });
        }
        for property in properties.iter_mut().filter(|property| fits(property)) {
            property.asked = true;
        }
    }
    if !selectors.is_empty() {
        properties.retain(|property| property.asked);
    }
    Ok(Plan { properties })
}

/// Says that a model has no such property, and which it has.
pub fn unknown_property(unknown: &UnknownProperty) -> Finding {
    Finding::new(Code::UnknownProperty, format!("this model has no property `{}`", unknown.selector))
        .help(format!("the properties of this model: {}", unknown.available.join(", ")))
        .help("or name a kind: safety, progress, acceptance, ltl")
}

fn planned(name: &str, kind: PropertyClass, question: Question) -> Planned {
    Planned { name: name.to_owned(), kind, question, asked: false }
}

fn class_of(property: &Property) -> PropertyClass {
    match property.kind {
        PropertyKind::Safety | PropertyKind::Trace(_) => PropertyClass::Safety,
        PropertyKind::Progress => PropertyClass::Progress,
        PropertyKind::Acceptance => PropertyClass::Acceptance,
        PropertyKind::Ltl(_) | PropertyKind::Never(_) => PropertyClass::Ltl,
    }
}

fn question_of(property: &Property) -> Question {
    match property.kind {
        PropertyKind::Safety | PropertyKind::Trace(_) => Question::Safety,
        PropertyKind::Progress => Question::Progress,
        PropertyKind::Acceptance => Question::Acceptance,
        PropertyKind::Ltl(_) | PropertyKind::Never(_) => Question::Claim,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Program {
        let property = |name: &str, kind| Property::new(name, kind, None);
        let formula = fabius_program::Formula::Proposition(fabius_program::Expr::Constant(1));
        Program {
            properties: vec![
                property("progress", PropertyKind::Progress),
                property("fair", PropertyKind::Ltl(formula)),
            ],
            ..Program::default()
        }
    }

    fn names(selectors: &[&str]) -> Result<Vec<String>, UnknownProperty> {
        let selectors: Vec<String> = selectors.iter().map(|&selector| selector.to_owned()).collect();
        plan(&program(), &selectors).map(|plan| plan.properties.into_iter().map(|property| property.name).collect())
    }

    #[test]
    fn without_a_selector_everything_is_listed() {
        assert_eq!(names(&[]), Ok(vec!["safety".into(), "progress".into(), "fair".into()]));
    }

    #[test]
    fn a_selector_is_a_name_or_a_kind() {
        assert_eq!(names(&["fair"]), Ok(vec!["fair".into()]));
        assert_eq!(names(&["ltl", "safety"]), Ok(vec!["safety".into(), "fair".into()]));
        assert_eq!(names(&["acceptance"]), Ok(vec![]));
    }

    #[test]
    fn a_selector_that_nothing_fits_is_refused_with_what_there_is() {
        let available = vec!["safety".to_owned(), "progress".to_owned(), "fair".to_owned()];
        assert_eq!(names(&["fare"]), Err(UnknownProperty { selector: "fare".to_owned(), available }));
    }
}
