//! What Spin accepts, Fabius accepts; what Spin refuses, Fabius refuses: names and types included.

use crate::spin;

use fabius_base::Code;
use fabius_promela::Options;

/// Models on which we differ from Spin, each with the reason.
const EXPLAINED: &[(&str, &str)] = &[];

#[test]
fn the_corpus_is_accepted_as_spin_accepts_it() {
    let Some(corpus) = fabius_needs::corpus() else { return };
    let (mut agreed, mut refused, mut wrong) = (0, 0, Vec::new());
    for model in spin::manifest(&corpus) {
        let path = model["path"].as_str().expect("a model has a path");
        let expected = model["syntax"]["ok"] == true;
        let (map, parsed, lowered) = spin::lower_file(&corpus.join("models").join(path), Options::NONE);
        // Embedded C is fine for Spin, and a reason not to check the model for us.
        let errors: Vec<_> = parsed
            .findings
            .iter()
            .chain(&lowered.findings)
            .filter(|f| f.is_error() && f.code != Code::NotChecked)
            .collect();
        refused += usize::from(!errors.is_empty());
        if errors.is_empty() == expected || EXPLAINED.iter().any(|(explained, _)| *explained == path) {
            agreed += 1;
            continue;
        }
        let shown = errors.first().map_or("nothing".into(), |f| {
            let place = f.span().map_or(String::new(), |span| map.position(span).to_string());
            format!("{place}: {}", f.headline)
        });
        wrong.push(format!("{path}: we say {shown}; Spin says {}", model["syntax"]["message"]));
    }
    println!("{agreed} models agreed upon, {refused} of them refused");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
