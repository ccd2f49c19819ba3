//! Values of macros with which a comment says to check a model, one after the other.
//!
//! ```promela
//! /*@ sweep N = 2..5, M = 1..3 */
//! ```

use crate::pragma::{Pragma, pragmas};
use fabius_base::{Code, Finding, SourceMap, Span};
use fabius_language::{Parameter, WrittenSweep};

/// The sweeps that are written in all files, and what is wrong with them.
pub(crate) fn sweeps(map: &SourceMap, inactive: &[Span]) -> (Vec<WrittenSweep>, Vec<Finding>) {
    let (mut found, mut findings) = (Vec::new(), Vec::new());
    for (file, source) in map.files() {
        for Pragma { span, words } in pragmas(file, &source.text, inactive) {
            let sweep = words.trim().strip_prefix("sweep").filter(|rest| !rest.starts_with(char::is_alphanumeric));
            match sweep.map(read) {
                Some(Ok(parameters)) => found.push(WrittenSweep { parameters, span }),
                Some(Err(why)) => {
                    findings.push(Finding::new(Code::BadSweep, "invalid `sweep` annotation").at(span, why))
                }
                None => {}
            }
        }
    }
    (found, findings)
}

/// `N = 2..5, M = 1..3`.
fn read(text: &str) -> Result<Vec<Parameter>, String> {
    let mut all: Vec<Parameter> = Vec::new();
    for one in text.split(',') {
        let parameter = Parameter::read(one)?;
        if all.iter().any(|other| other.name == parameter.name) {
            return Err(format!("{} is given twice", parameter.name));
        }
        all.push(parameter);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sweeps of a text, as `name first last` of each macro, and what is wrong.
    fn found(text: &str) -> (Vec<String>, Vec<String>) {
        let mut map = SourceMap::new();
        map.add_file("m.pml", text);
        let (sweeps, findings) = sweeps(&map, &[]);
        let shown = |p: &Parameter| format!("{} {} {}", p.name, p.first, p.last);
        let sweeps = sweeps.iter().map(|sweep| sweep.parameters.iter().map(shown).collect::<Vec<_>>().join(", "));
        (sweeps.collect(), findings.iter().map(|finding| finding.headline.clone()).collect())
    }

    #[test]
    fn values_are_read_where_they_are_written() {
        assert_eq!(found("/*@ sweep N = 2..5 */ init { skip }").0, ["N 2 5"]);
        assert_eq!(found("/*@sweep N=2..5,M = 1*/ init { skip } /*@ sweep K = 0..1 */").0, ["N 2 5, M 1 1", "K 0 1"]);
        assert_eq!(found("/* sweep N = 2..5 */ /*@ sweeping */ init { skip }"), (Vec::new(), Vec::new()));
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        for text in ["/*@ sweep */", "/*@ sweep N */", "/*@ sweep N = 5..2 */", "/*@ sweep N = 1..2, N = 3 */"] {
            let (sweeps, findings) = found(text);
            assert_eq!((sweeps.len(), findings.len()), (0, 1), "{text}");
        }
    }
}
