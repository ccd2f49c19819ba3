//! Options that cannot be satisfied: which of them contradict each other, why, and the nearest combination that works.

use super::{Asked, Feature, RequestedOption, Row, SEARCHES, choose};
use fabius_base::{Code, Finding};
use fabius_task::load::Loaded;
use fabius_task::plan::{Plan, Question, plan};
use fabius_task::settings::{DelayMode, Fairness, Progress, Settings};

/// What may be added to a combination of options to make it work.
const ADDITIONS: [Feature; 4] =
    [Feature::Delay, Feature::Depth, Feature::Mode(DelayMode::Exact), Feature::Mode(DelayMode::Sample)];

/// What is wrong with the options of a check, if anything: one of them fits no property that is checked, or several of them
/// contradict each other for a property.
pub fn refusal(plan: &Plan, settings: &Settings) -> Option<Finding> {
    let asked = all_asked(plan, settings);
    // A search that cannot be saved runs all the same, so the checkpoint is not to blame where there is none.
    let unsaved = settings.clone().without(Feature::Checkpoint);
    let refused = asked.iter().find(|asked| choose(asked, settings).is_none()).map(|asked| (asked, &unsaved));
    let unkept = asked.first().filter(|_| saves_nothing(&asked, settings)).map(|asked| (asked, settings));
    let refused = refused.or(unkept);
    let finding =
        unfit(&asked, settings).or_else(|| refused.map(|(asked, settings)| contradictory(asked, settings)))?;
    Some(finding.help(advice(plan, refused.map_or("", |(asked, _)| asked.name), settings)))
}

/// What is wrong with the options of a check of this model, if anything.
pub fn contradiction(loaded: &Loaded, settings: &Settings) -> Option<Finding> {
    let plan = plan(loaded.checkable()?, &settings.properties).ok()?;
    refusal(&plan, settings)
}

/// Whether a checkpoint is asked for, and none of the searches can be saved.
fn saves_nothing(asked: &[Asked<'_>], settings: &Settings) -> bool {
    let is_saved = |asked: &Asked<'_>| choose(asked, settings).is_some_and(|choice| choice.is_kept());
    settings.checkpoint_files.is_asked_for() && !asked.iter().any(is_saved)
}

/// The options that fit none of the properties.
pub(super) fn unfit_options(plan: &Plan, settings: &Settings) -> Vec<RequestedOption> {
    let asked = all_asked(plan, settings);
    all_options(settings).into_iter().filter(|option| !fits(option.feature, &asked)).collect()
}

fn all_asked<'p>(plan: &'p Plan, settings: &Settings) -> Vec<Asked<'p>> {
    plan.properties.iter().map(|planned| Asked::of(planned, settings)).collect()
}

/// Whether an option fits one of the properties at least.
fn fits(feature: Feature, asked: &[Asked<'_>]) -> bool {
    asked.iter().any(|asked| match feature {
        Feature::Fair(_) => asked.question != Question::Safety,
        Feature::ProgressOn(_) => asked.question == Question::Progress,
        _ => asked.rows().any(|row| row.supports(feature)),
    })
}

/// An option that fits none of the properties.
fn unfit(asked: &[Asked<'_>], settings: &Settings) -> Option<Finding> {
    let first = asked.first()?;
    let option = all_options(settings).into_iter().find(|option| !fits(option.feature, asked))?;
    let nearest = asked.iter().find(|asked| option.feature.concerns(asked.question)).unwrap_or(first);
    let because = changes(nearest, settings, std::slice::from_ref(&option));
    if because.is_empty() {
        let names = listed(asked.iter().map(|asked| format!("`{}`", asked.name)), "or");
        let finding = Finding::new(Code::Contradiction, format!("`{}` does not suit {names}", option.flag));
        return Some(with_able(finding, &option, SEARCHES.iter()).note(suits(option.feature)));
    }
    Some(combined(nearest, &[vec![option], because].concat()))
}

/// Options that no search for an answer supports together, or that need one more.
fn contradictory(asked: &Asked<'_>, settings: &Settings) -> Finding {
    let (options, _) = asked.sort(settings.options());
    if let Some(conflict) = smallest_conflict(asked, &options) {
        let because = changes(asked, settings, &conflict);
        return combined(asked, &[conflict, because].concat());
    }
    let because = changes(asked, settings, &options);
    if !because.is_empty() {
        return combined(asked, &[options, because].concat());
    }
    let rows: Vec<&Row> = asked.rows().filter(|row| row.supports_all(&options)).collect();
    let fewest = rows.iter().map(|row| row.missing(&options).count()).min();
    let mut needed: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| Some(row.missing(&options).count()) == fewest) {
        let flags: Vec<String> =
            row.missing(&options).filter_map(|group| group.first()).map(|feature| feature.flag()).collect();
        let flags = format!("`{}`", flags.join(" "));
        if !needed.contains(&flags) {
            needed.push(flags);
        }
    }
    let flags = listed(options.iter().map(|option| format!("`{}`", option.flag)), "and");
    let verb = if options.len() == 1 { "needs" } else { "need" };
    let headline = format!("{flags} {verb} {}", listed(needed.into_iter(), "or"));
    let finding = Finding::new(Code::Contradiction, headline);
    options.iter().fold(finding, |finding, option| with_able(finding, option, asked.rows()))
}

/// What of the question makes options impossible: without it, some search would support them.
fn changes(asked: &Asked<'_>, settings: &Settings, options: &[RequestedOption]) -> Vec<RequestedOption> {
    let plain = Asked { fairness: Fairness::None, progress: Progress::default(), ..asked.clone() };
    let works =
        |asked: &Asked<'_>| asked.rows().any(|row| row.supports_all(options) && row.missing(options).next().is_none());
    let about = about_question(settings).into_iter().filter(|option| match option.feature {
        Feature::Fair(_) => asked.fairness != Fairness::None,
        _ => asked.progress != Progress::default(),
    });
    if works(&plain) && !works(asked) { about.collect() } else { Vec::new() }
}

/// The finding about options that cannot be satisfied together.
fn combined(asked: &Asked<'_>, conflict: &[RequestedOption]) -> Finding {
    let flags = listed(conflict.iter().map(|option| format!("`{}`", option.flag)), "and");
    let headline = format!("{flags} cannot be combined to check `{}`", asked.name);
    let plain = Asked { fairness: Fairness::None, progress: Progress::default(), ..asked.clone() };
    let finding = Finding::new(Code::Contradiction, headline);
    conflict.iter().fold(finding, |finding, option| with_able(finding, option, plain.rows()))
}

/// The fewest options that no search supports together.
fn smallest_conflict(asked: &Asked<'_>, options: &[RequestedOption]) -> Option<Vec<RequestedOption>> {
    let is_conflict = |some: &[RequestedOption]| !asked.rows().any(|row| row.supports_all(some));
    if !is_conflict(options) {
        return None;
    }
    let mut conflict = options.to_vec();
    for index in (0..options.len()).rev() {
        let mut fewer = conflict.clone();
        fewer.remove(index);
        if is_conflict(&fewer) {
            conflict = fewer;
        }
    }
    Some(conflict)
}

/// Everything that was asked for, with what is part of the question.
fn all_options(settings: &Settings) -> Vec<RequestedOption> {
    [settings.options(), about_question(settings)].concat()
}

/// What was asked for and changes the answer.
fn about_question(settings: &Settings) -> Vec<RequestedOption> {
    let fair = settings.fairness != Fairness::None;
    let fair = fair.then(|| RequestedOption {
        feature: Feature::Fair(settings.fairness),
        flag: format!("--fairness {}", settings.fairness.as_str()),
    });
    let progress = settings.progress != Progress::default();
    let progress = progress.then(|| RequestedOption {
        feature: Feature::ProgressOn(settings.progress),
        flag: format!("--progress {}", settings.progress.as_str()),
    });
    fair.into_iter().chain(progress).collect()
}

/// A finding with the searches that support an option, where the option is not just the name of one.
fn with_able<'r>(finding: Finding, option: &RequestedOption, rows: impl Iterator<Item = &'r Row>) -> Finding {
    let mut names: Vec<String> = Vec::new();
    for row in rows.filter(|row| row.supports(option.feature)) {
        // Of searches with the same name only some may support it: then what else they need is named.
        let is_alone =
            SEARCHES.iter().filter(|other| other.name == row.name).all(|other| other.supports(option.feature));
        let needed = row.missing(std::slice::from_ref(option)).filter_map(|group| group.first());
        let needed: Vec<String> = needed.filter(|_| !is_alone).map(|feature| feature.flag()).collect();
        let with = if needed.is_empty() { String::new() } else { format!(" with `{}`", needed.join(" ")) };
        let name = format!("{}{with}", row.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if matches!(names.as_slice(), [only] if option.flag.ends_with(&format!(" {only}"))) {
        return finding;
    }
    finding.note(format!("`{}` works with the search {}", option.flag, listed(names.into_iter(), "or")))
}

/// The kinds of properties that an option suits.
fn suits(feature: Feature) -> String {
    let questions = [Question::Safety, Question::Progress, Question::Acceptance, Question::Claim];
    let rows = || SEARCHES.iter().filter(|row| row.supports(feature));
    let is_suited = |question: Question| match feature {
        Feature::ProgressOn(_) => question == Question::Progress,
        _ => rows().any(|row| row.questions.contains(&question)),
    };
    let kinds =
        questions.into_iter().filter(|question| is_suited(*question)).map(|question| question.kind().to_owned());
    format!("it suits properties of kind {}", listed(kinds, "and"))
}

/// The nearest combination that works for all properties: the most options, and of as many, what changes the question is left out
/// last.
fn advice(plan: &Plan, name: &str, settings: &Settings) -> String {
    let mut options = settings.options();
    options.reverse();
    options.extend(about_question(settings));
    let masks = |size: u32| (0_u64..1 << options.len()).filter(move |mask| mask.count_ones() == size);
    let works = |settings: &Settings| {
        let asked = all_asked(plan, settings);
        let chosen = asked.iter().all(|asked| choose(asked, settings).is_some());
        chosen
            && !saves_nothing(&asked, settings)
            && all_options(settings).iter().all(|option| fits(option.feature, &asked))
    };
    for dropped in (0..=options.len() as u32).flat_map(masks) {
        let index = options.iter().enumerate().filter(|(index, _)| dropped >> index & 1 == 1);
        let fewer = index.fold(settings.clone(), |settings, (_, option)| settings.without(option.feature));
        if all_options(&fewer).len() + dropped.count_ones() as usize != options.len() {
            continue;
        }
        let more = ADDITIONS.iter().filter_map(|addition| fewer.clone().with(*addition));
        let Some(found) = [fewer.clone()].into_iter().chain(more).find(works) else { continue };
        let flags: Vec<String> = all_options(&found).into_iter().map(|option| option.flag).collect();
        let asked = all_asked(plan, &found);
        let which = asked.iter().find(|asked| asked.name == name).or_else(|| asked.first());
        let search = which.and_then(|asked| choose(asked, &found)).map_or("", |choice| choice.name());
        return match flags.as_slice() {
            [] => format!("nearest combination that works: none of these flags (search {search})"),
            _ => format!("nearest combination that works: `{}` (search {search})", flags.join(" ")),
        };
    }
    "leave out these flags".to_owned()
}

/// Several things as one reads them.
fn listed(items: impl Iterator<Item = String>, last: &str) -> String {
    let items: Vec<String> = items.collect();
    match items.as_slice() {
        [] => "none".to_owned(),
        [only] => only.clone(),
        [most @ .., end] => format!("{} {last} {end}", most.join(", ")),
    }
}
