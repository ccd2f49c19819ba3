//! Lowering by itself: numbers, places of declarations, structures, constants, and what is refused.

use fabius_base::{Finding, SourceMap};
use fabius_language::{Lowered, NoLoader};
use fabius_program::{Action, Expr, Initial, Kind, Program, PropertyKind, Type};
use fabius_promela::{Options, lower, parse};

fn lowered(text: &str) -> (SourceMap, Lowered) {
    let mut map = SourceMap::new();
    let file = map.add_file("test.pml", text);
    let parsed = parse(&mut map, file, &[], &mut NoLoader);
    assert!(parsed.is_ok(), "{:?}", parsed.findings);
    let lowered = lower(&parsed.model, &map, "test", Options::NONE);
    (map, lowered)
}

fn program(text: &str) -> Program {
    let (_, lowered) = lowered(text);
    lowered.program.unwrap_or_else(|| panic!("{:?}", lowered.findings))
}

/// `[statement number] text` of the edges that leave a location.
fn edges(program: &Program, process: usize, location: u32) -> Vec<String> {
    let process = &program.processes[process];
    let location = process.locations.iter().find(|l| l.number == location).expect("the location exists");
    let one = |statement: &fabius_program::Statement| format!("[{}] {}", statement.number, statement.text);
    program.edges_of(location).map(|(_, edge)| one(&process.statements[edge.statement.0 as usize])).collect()
}

fn locals(program: &Program, process: usize) -> Vec<(&str, Type, &[u32])> {
    program.processes[process].locals.iter().map(|v| (v.name.as_str(), v.ty, v.dimensions.as_slice())).collect()
}

const fn number(bits: u8) -> Type {
    Type::unsigned(bits, Kind::Number)
}

#[test]
fn numbers_run_through_all_process_types() {
    let program = program(
        "byte x; active proctype P() { x = 1; do :: x == 2 -> break :: else od }
         active proctype Q() { x = 3; goto l; l: skip }",
    );
    // x = 1 is 0; inside of the loop 1 to 3; the loop, its join and its exit 4 to 6; the end 7.
    assert_eq!(edges(&program, 0, 1), ["[0] x = 1"]);
    let start = &program.processes[0].locations[program.processes[0].entry.0 as usize];
    assert_eq!(start.number, 1);
    assert_eq!(edges(&program, 0, 5), ["[1] x == 2", "[3] else"]);
    assert_eq!(edges(&program, 1, 1), ["[8] x = 3"]);
}

#[test]
fn else_comes_last() {
    let program = program("byte x; active proctype P() { if :: else -> x = 1 :: x == 2 :: x == 3 fi }");
    assert_eq!(edges(&program, 0, 5), ["[2] x == 2", "[3] x == 3", "[0] else"]);
}

#[test]
fn declarations_behind_the_first_statement_become_steps() {
    let program = program("active proctype P() { byte a = 1; a = 2; byte b = 3; byte c; b = c }");
    let process = &program.processes[0];
    assert!(matches!(process.locals[0].initial, Initial::Value(Expr::Constant(1))));
    assert!(matches!(process.locals[1].initial, Initial::Zero));
    assert_eq!(edges(&program, 0, 2), ["[1] b = 3"]);
    assert_eq!(edges(&program, 0, 3), ["[2] c = 0"]);
}

#[test]
fn inner_names_keep_their_name_and_get_their_own_place() {
    let program = program("active proctype P() { { byte a = 1; a = 2 }; { short a; a = 3 } }");
    assert_eq!(locals(&program, 0), [("a", number(8), &[][..]), ("a", Type::signed(16), &[][..])]);
}

#[test]
fn structures_become_their_leaves() {
    let program = program(
        "typedef In { bit b[2]; short n = 7 }; typedef Out { byte k; In in[3] };
         Out o[4]; In one;
         active proctype P() { o[1].in[2].b[0] = one.n }",
    );
    let names: Vec<_> = program.globals.iter().map(|v| (v.name.as_str(), v.ty, v.dimensions.clone())).collect();
    let expected = [
        ("o[].k", number(8), vec![4]),
        ("o[].in[].b", number(8), vec![4, 3, 2]),
        ("o[].in[].n", Type::signed(16), vec![4, 3]),
        ("one.b", number(8), vec![2]),
        ("one.n", Type::signed(16), vec![]),
    ];
    assert_eq!(names, expected);
    let Action::Assign(place, _) = &program.processes[0].statements[0].action else { panic!("an assignment") };
    assert_eq!(place.indices, [Expr::Constant(1), Expr::Constant(2), Expr::Constant(0)]);
}

#[test]
fn whole_structures_travel_field_by_field() {
    let program = program(
        "typedef M { byte a; short b[2] }; chan c = [1] of { bit, M };
         active proctype P() { M m; c!1,m; c?_,m }",
    );
    let fields: Vec<_> = program.channel_types[0].fields.iter().map(|ty| (ty.bits, ty.signed)).collect();
    assert_eq!(fields, [(1, false), (8, false), (16, true), (16, true)]);
    let Action::Send(send) = &program.processes[0].statements[0].action else { panic!("a send") };
    assert_eq!(send.fields.len(), 4);
}

#[test]
fn a_single_bit_in_a_message_takes_a_byte() {
    let program = program("chan c = [1] of { bool }; init { c!true }");
    assert_eq!(program.channel_types[0].fields[0].bits, 8);
}

#[test]
fn symbolic_constants_count_from_the_end_of_each_list() {
    let program = program(
        "mtype = { a, b, c }; mtype = { d, e }; mtype:fruit = { apple, pear };
         init { mtype x = a; mtype:fruit y = pear; skip }",
    );
    let names: Vec<_> = program.enumerations.iter().map(|e| (e.name.as_str(), e.constants.clone())).collect();
    let named = |list: &[(i32, &str)]| list.iter().map(|(v, n)| (*v, n.to_string())).collect::<Vec<_>>();
    assert_eq!(names[0], ("", named(&[(1, "c"), (2, "b"), (3, "a"), (4, "e"), (5, "d")])));
    assert_eq!(names[1], ("fruit", named(&[(1, "pear"), (2, "apple")])));
    let Kind::Enum(id) = program.processes[0].locals[1].ty.kind else { panic!("an enumeration") };
    assert_eq!(program.enumerations[id.0 as usize].name, "fruit");
}

#[test]
fn processes_start_in_the_order_of_the_text() {
    let program = program(
        "active proctype A() { skip } init { skip } proctype B() { skip } active [2] proctype C() priority 4 { skip }",
    );
    let names: Vec<_> =
        program.initial.iter().map(|i| (program.process(i.process).name.as_str(), i.priority)).collect();
    assert_eq!(names, [("A", 1), ("init", 1), ("C", 4), ("C", 4)]);
    assert!(program.uses.priority);
}

#[test]
fn properties_come_from_labels_claims_and_formulas() {
    let program = program(
        "byte x; ltl safe { [] (x < 3) } ltl { <> (x == 2) }
         active proctype P() { progress: x = 1; accept_it: x = 2 } never { do :: skip od }",
    );
    let names: Vec<_> = program.properties.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["safety", "progress", "acceptance", "never", "safe", "ltl_0"]);
    assert!(matches!(program.properties[4].kind, PropertyKind::Ltl(_)));
    assert_eq!(program.processes[0].locations[0].labels, ["progress"]);
}

#[test]
fn labels_of_other_processes_are_found_wherever_they_end_up() {
    let program = program(
        "active proctype P() { skip; here: goto there; there: skip }
         never { do :: P@here -> break :: else od }",
    );
    let guard = program.processes[1].statements.iter().find_map(|s| match &s.action {
        Action::Guard(Expr::At { process, location, .. }) => Some((process.0, location.0)),
        _ => None,
    });
    let (process, location) = guard.expect("the claim asks for a location");
    assert_eq!(program.processes[process as usize].locations[location as usize].labels, ["here"]);
}

/// A finding where the text says so: between `«` and `»` stands the place, behind it the code.
#[track_caller]
fn refused(text: &str, code: &str) -> Finding {
    let start = text.find('«').expect("the place is marked");
    let end = text.find('»').expect("the place is marked");
    let clean = text.replace(['«', '»'], "");
    let place = &text[start + '«'.len_utf8()..end];
    let mut map = SourceMap::new();
    let file = map.add_file("test.pml", clean.as_str());
    let parsed = parse(&mut map, file, &[], &mut NoLoader);
    assert!(parsed.is_ok(), "{:?}", parsed.findings);
    let findings = lower(&parsed.model, &map, "test", Options::NONE).findings;
    let found = findings.iter().find(|f| f.code.as_str() == code).unwrap_or_else(|| panic!("{findings:?}"));
    let span = found.span().expect("a finding has a place");
    assert_eq!((map.text(span), span.start as usize), (place, start), "{}", found.headline);
    found.clone()
}

#[test]
fn names_are_checked_where_they_stand() {
    refused("byte count; init { «cuont» = 1 }", "F0301");
    refused("init { byte n; byte «n» }", "F0302");
    refused("byte n; proctype P(byte «n») { skip } init { run P(1) }", "F0302");
    refused("typedef T { byte x }; T t; init { t.«y» = 1 }", "F0303");
    refused("byte a[2]; init { «a» = 1 }", "F0304");
    refused("byte n; init { «n»[1] = 1 }", "F0304");
    refused("byte n; init { «n»: skip }", "F0305");
    refused("chan c; byte n; init { n = «c» + 1 }", "F0306");
    refused("mtype:a = { x }; mtype:b = { y }; mtype:a v; init { v = x; v = «y» }", "F0306");
    refused("hidden bit «b»; init { skip }", "F0307");
    refused("proctype P(byte n) { skip } init { «run P()» }", "F0308");
    refused("init { «_pid» = 1 }", "F0309");
    refused("typedef T { byte x }; T t, u; init { «t» = u }", "F0310");
    refused("proctype Worker() { skip } init { run «Wroker»() }", "F0311");
    refused("byte n = 3; init { byte a[«n»] }", "F0312");
}

#[test]
fn steps_are_checked_where_they_stand() {
    refused("init { «goto l» }", "F0401");
    refused("init { a: d_step { skip }; «goto a» }", "F0402");
    refused("init { «break» }", "F0403");
    refused("init { atomic { l: «skip»; skip } }", "F0404");
    refused("init { if :: else -> skip :: «else» -> skip fi }", "F0405");
    refused("chan c = [1] of { byte }; init { if :: c?_ :: «else» fi }", "F0406");
    for first in ["c?_", "c!1", "c?<_>"] {
        let finding = refused(&format!("chan c = [1] of {{ byte }}; init {{ if :: {first} :: «else» fi }}"), "F0406");
        assert!(finding.headline.contains("a send or a receive"), "{finding:?}");
    }
    for first in ["full(c)", "nfull(c)", "empty(c)", "nempty(c)", "1 == 1 && full(c)"] {
        let text = format!("chan c = [1] of {{ byte }}; byte m; init {{ if :: {first} :: m == 2 :: «else» fi }}");
        let finding = refused(&text, "F0406");
        assert!(finding.headline.contains("a test of a channel"), "{finding:?}");
        assert!(!format!("{finding:?}").contains("can be sent"), "{finding:?}");
    }
    let finding = refused("chan q = [1] of { byte }; active proctype P() { q?«_pid» }", "F0309");
    assert!(finding.help.iter().any(|help| help.contains("eval(_pid)")), "{finding:?}");
    refused("byte x; never { «x = 1» } init { skip }", "F0409");
    refused("proctype P() { skip } init { «run P() > 0» }", "F0409");
    refused("proctype «P»() { skip }", "F0410");
    refused("init { end: «skip»; goto end }", "F0412");
    refused("init { atomic { skip; progress: «skip»; skip } }", "F0413");
    refused("init { «c_code { x++; }» }", "F0501");
}

#[test]
fn advice_names_what_was_probably_meant() {
    assert_eq!(refused("byte count; init { «cuont» = 1 }", "F0301").help, ["did you mean `count`?"]);
    assert_eq!(refused("proctype Worker() { skip } init { run «Wroker»() }", "F0311").help, ["did you mean `Worker`?"]);
}

#[test]
fn all_mistakes_are_told_at_once_and_each_once() {
    let (_, lowered) = lowered("init { a = 1; a = b; c!1; goto d }");
    let codes: Vec<_> = lowered.findings.iter().map(|f| f.code.as_str()).collect();
    assert_eq!(codes, ["F0301", "F0301", "F0301", "F0401"]);
    assert!(lowered.program.is_none());
}

#[test]
fn that_spin_counts_the_claim_is_told_where_it_matters() {
    let finding = refused("byte x; init { «_nr_pr» == 1; x = 1 } ltl p { <> (x == 1) }", "F0414");
    assert!(!finding.is_error());
    refused("byte x; init { «_nr_pr» == 1; x = 1 } never { do :: x == 0 od }", "F0414");
    let of = |text: &str| {
        let mut map = SourceMap::new();
        let file = map.add_file("test.pml", text);
        let parsed = parse(&mut map, file, &[], &mut NoLoader);
        lower(&parsed.model, &map, "test", Options::NONE).findings
    };
    assert_eq!(of("byte x; init { _nr_pr == 1; x = 1 }"), []);
    assert_eq!(of("byte x; init { x = 1 } ltl p { <> (x == 1) }"), []);
}
