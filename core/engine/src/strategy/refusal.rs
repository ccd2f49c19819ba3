//! Wishes that cannot be granted: which of them contradict each other, why, and the nearest combination that works.

use super::{Asked, Feature, Row, SEARCHES, Wish, choose};
use crate::load::Loaded;
use crate::plan::{Plan, Question, plan};
use crate::settings::{DelayMode, Fairness, Progress, Settings};
use fabius_base::{Code, Finding};

/// What may be added to a combination of wishes to make it work.
const ADDITIONS: [Feature; 4] =
    [Feature::Delay, Feature::Depth, Feature::Mode(DelayMode::Exact), Feature::Mode(DelayMode::Sample)];

/// What is wrong with the wishes of a check, if anything: one of them fits no property that is checked, or several of them
/// contradict each other for a property.
pub fn refusal(plan: &Plan, settings: &Settings) -> Option<Finding> {
    let asked = all_asked(plan, settings);
    let refused = asked.iter().find(|asked| choose(asked, settings).is_none());
    let finding = unfit(&asked, settings).or_else(|| refused.map(|asked| contradictory(asked, settings)))?;
    Some(finding.help(advice(plan, refused.map_or("", |asked| asked.name), settings)))
}

/// What is wrong with the wishes of a check of this model, if anything.
pub fn contradiction(loaded: &Loaded, settings: &Settings) -> Option<Finding> {
    let plan = plan(loaded.checkable()?, &settings.properties).ok()?;
    refusal(&plan, settings)
}

/// The wishes that fit none of the properties.
pub(super) fn unfit_wishes(plan: &Plan, settings: &Settings) -> Vec<Wish> {
    let asked = all_asked(plan, settings);
    all_wishes(settings).into_iter().filter(|wish| !fits(wish.feature, &asked)).collect()
}

fn all_asked<'p>(plan: &'p Plan, settings: &Settings) -> Vec<Asked<'p>> {
    plan.properties.iter().map(|planned| Asked::of(planned, settings)).collect()
}

/// Whether a wish fits one of the properties at least.
fn fits(feature: Feature, asked: &[Asked<'_>]) -> bool {
    asked.iter().any(|asked| match feature {
        Feature::Fair(_) => asked.question != Question::Safety,
        Feature::ProgressOn(_) => asked.question == Question::Progress,
        _ => asked.rows().any(|row| row.heeds(feature)),
    })
}

/// A wish that fits none of the properties.
fn unfit(asked: &[Asked<'_>], settings: &Settings) -> Option<Finding> {
    let first = asked.first()?;
    let wish = all_wishes(settings).into_iter().find(|wish| !fits(wish.feature, asked))?;
    let nearest = asked.iter().find(|asked| wish.feature.concerns(asked.question)).unwrap_or(first);
    let because = changes(nearest, settings, std::slice::from_ref(&wish));
    if because.is_empty() {
        let names = listed(asked.iter().map(|asked| format!("`{}`", asked.name)), "or");
        let finding = Finding::new(Code::Contradiction, format!("`{}` does not suit {names}", wish.flag));
        return Some(finding.note(able(&wish, SEARCHES.iter())).note(suits(wish.feature)));
    }
    Some(combined(nearest, &[vec![wish], because].concat()))
}

/// Wishes that no search for an answer heeds together, or that need one more.
fn contradictory(asked: &Asked<'_>, settings: &Settings) -> Finding {
    let (wishes, _) = asked.sort(settings.wishes());
    if let Some(conflict) = smallest_conflict(asked, &wishes) {
        let because = changes(asked, settings, &conflict);
        return combined(asked, &[conflict, because].concat());
    }
    let because = changes(asked, settings, &wishes);
    if !because.is_empty() {
        return combined(asked, &[wishes, because].concat());
    }
    let rows: Vec<&Row> = asked.rows().filter(|row| row.heeds_all(&wishes)).collect();
    let fewest = rows.iter().map(|row| row.missing(&wishes).count()).min();
    let mut needed: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| Some(row.missing(&wishes).count()) == fewest) {
        let flags: Vec<String> =
            row.missing(&wishes).filter_map(|group| group.first()).map(|feature| feature.flag()).collect();
        let flags = format!("`{}`", flags.join(" "));
        if !needed.contains(&flags) {
            needed.push(flags);
        }
    }
    let flags = listed(wishes.iter().map(|wish| format!("`{}`", wish.flag)), "and");
    let verb = if wishes.len() == 1 { "needs" } else { "need" };
    let headline = format!("{flags} {verb} {}", listed(needed.into_iter(), "or"));
    let finding = Finding::new(Code::Contradiction, headline);
    wishes.iter().fold(finding, |finding, wish| finding.note(able(wish, asked.rows())))
}

/// What of the question makes wishes impossible: without it, some search would heed them.
fn changes(asked: &Asked<'_>, settings: &Settings, wishes: &[Wish]) -> Vec<Wish> {
    let plain = Asked { fairness: Fairness::None, progress: Progress::default(), ..asked.clone() };
    let works =
        |asked: &Asked<'_>| asked.rows().any(|row| row.heeds_all(wishes) && row.missing(wishes).next().is_none());
    let about = about_question(settings).into_iter().filter(|wish| match wish.feature {
        Feature::Fair(_) => asked.fairness != Fairness::None,
        _ => asked.progress != Progress::default(),
    });
    if works(&plain) && !works(asked) { about.collect() } else { Vec::new() }
}

/// The finding about wishes that cannot be granted together.
fn combined(asked: &Asked<'_>, conflict: &[Wish]) -> Finding {
    let flags = listed(conflict.iter().map(|wish| format!("`{}`", wish.flag)), "and");
    let headline = format!("{flags} cannot be combined to check `{}`", asked.name);
    let plain = Asked { fairness: Fairness::None, progress: Progress::default(), ..asked.clone() };
    let finding = Finding::new(Code::Contradiction, headline);
    conflict.iter().fold(finding, |finding, wish| finding.note(able(wish, plain.rows())))
}

/// The fewest wishes that no search heeds together.
fn smallest_conflict(asked: &Asked<'_>, wishes: &[Wish]) -> Option<Vec<Wish>> {
    let is_conflict = |some: &[Wish]| !asked.rows().any(|row| row.heeds_all(some));
    if !is_conflict(wishes) {
        return None;
    }
    let mut conflict = wishes.to_vec();
    for index in (0..wishes.len()).rev() {
        let mut fewer = conflict.clone();
        fewer.remove(index);
        if is_conflict(&fewer) {
            conflict = fewer;
        }
    }
    Some(conflict)
}

/// Everything that was asked for, with what is part of the question.
fn all_wishes(settings: &Settings) -> Vec<Wish> {
    [settings.wishes(), about_question(settings)].concat()
}

/// What was asked for and changes the answer.
fn about_question(settings: &Settings) -> Vec<Wish> {
    let fair = settings.fairness != Fairness::None;
    let fair = fair.then(|| Wish {
        feature: Feature::Fair(settings.fairness),
        flag: format!("--fairness {}", settings.fairness.as_str()),
    });
    let progress = settings.progress != Progress::default();
    let progress = progress.then(|| Wish {
        feature: Feature::ProgressOn(settings.progress),
        flag: format!("--progress {}", settings.progress.as_str()),
    });
    fair.into_iter().chain(progress).collect()
}

/// Which searches heed a wish.
fn able<'r>(wish: &Wish, rows: impl Iterator<Item = &'r Row>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for row in rows.filter(|row| row.heeds(wish.feature)) {
        if !names.contains(&row.name) {
            names.push(row.name);
        }
    }
    format!("`{}` works with the search {}", wish.flag, listed(names.iter().map(|name| (*name).to_owned()), "or"))
}

/// The kinds of properties that a wish suits.
fn suits(feature: Feature) -> String {
    let questions = [Question::Safety, Question::Progress, Question::Acceptance, Question::Claim];
    let rows = || SEARCHES.iter().filter(|row| row.heeds(feature));
    let is_suited = |question: Question| match feature {
        Feature::ProgressOn(_) => question == Question::Progress,
        _ => rows().any(|row| row.questions.contains(&question)),
    };
    let kinds =
        questions.into_iter().filter(|question| is_suited(*question)).map(|question| question.kind().to_owned());
    format!("it suits properties of kind {}", listed(kinds, "and"))
}

/// The nearest combination that works for all properties: the most wishes, and of as many, what changes the question is left out
/// last.
fn advice(plan: &Plan, name: &str, settings: &Settings) -> String {
    let mut wishes = settings.wishes();
    wishes.reverse();
    wishes.extend(about_question(settings));
    let masks = |size: u32| (0_u64..1 << wishes.len()).filter(move |mask| mask.count_ones() == size);
    let works = |settings: &Settings| {
        let asked = all_asked(plan, settings);
        let chosen = asked.iter().all(|asked| choose(asked, settings).is_some());
        chosen && all_wishes(settings).iter().all(|wish| fits(wish.feature, &asked))
    };
    for dropped in (0..=wishes.len() as u32).flat_map(masks) {
        let index = wishes.iter().enumerate().filter(|(index, _)| dropped >> index & 1 == 1);
        let fewer = index.fold(settings.clone(), |settings, (_, wish)| settings.without(wish.feature));
        if all_wishes(&fewer).len() + dropped.count_ones() as usize != wishes.len() {
            continue;
        }
        let more = ADDITIONS.iter().filter_map(|addition| fewer.clone().with(*addition));
        let Some(found) = [fewer.clone()].into_iter().chain(more).find(works) else { continue };
        let flags: Vec<String> = all_wishes(&found).into_iter().map(|wish| wish.flag).collect();
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
