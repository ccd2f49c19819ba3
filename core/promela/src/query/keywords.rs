//! What every keyword means, in a sentence or two. A test holds the table against the lexer's.

/// Each keyword: the word, how it is written, what it means.
pub const KEYWORD_HELP: &[(&str, &str, &str)] = &[
    ("active", "active [n] proctype P() { … }", "Processes of this type exist from the start: `n` of them, or one."),
    ("assert", "assert(condition)", "Always executable. If the condition is false, the run is a counterexample."),
    (
        "atomic",
        "atomic { … }",
        "No other process moves between the steps, unless one of them cannot be executed: then control is lost until it can. States in between still count.",
    ),
    ("bit", "bit x", "A variable with the values 0 and 1."),
    ("bool", "bool x", "A variable with the values `false` and `true`."),
    ("break", "break", "Leaves the innermost `do` or `for`."),
    ("byte", "byte x", "A variable from 0 to 255; larger values are cut to their low eight bits."),
    ("c_code", "c_code { … }", "A piece of C. Fabius does not check models with embedded C."),
    ("c_decl", "c_decl { … }", "C declarations. Fabius does not check models with embedded C."),
    ("c_expr", "c_expr { … }", "A C expression. Fabius does not check models with embedded C."),
    (
        "c_state",
        "c_state \"type name\" \"scope\"",
        "A C variable in the state. Fabius does not check models with embedded C.",
    ),
    ("c_track", "c_track \"address\" \"size\"", "C data in the state. Fabius does not check models with embedded C."),
    (
        "D_proctype",
        "D_proctype P() { … }",
        "Like `proctype`; it is an error if two of its statements can be executed at once.",
    ),
    (
        "do",
        "do :: … :: … od",
        "Repeats: chooses one of the options that can be executed, again and again, until `break` or `goto`. It waits while none can.",
    ),
    ("chan", "chan q = [capacity] of { types }", "A channel. Capacity 0 means that sender and receiver move together."),
    ("else", ":: else -> …", "Executable if no other option of the same `if` or `do` is."),
    ("empty", "empty(q)", "Whether the channel holds no message. Use `nempty` instead of `!empty`."),
    ("enabled", "enabled(pid)", "Whether the process with this number can move now."),
    ("eval", "q ? eval(x)", "In a receive: the field must have this value; the variable is not changed."),
    ("false", "false", "The constant 0."),
    ("fi", "if :: … fi", "Ends an `if`."),
    (
        "for",
        "for (i : from .. to) { … }",
        "Repeats for every value, both ends included. `for (x in array)` goes through indices, `for (m in q)` through messages.",
    ),
    ("full", "full(q)", "Whether the channel has no room. Use `nfull` instead of `!full`."),
    ("get_priority", "get_priority(pid)", "The priority of a process."),
    ("goto", "goto label", "Goes on at the label in the same process."),
    (
        "hidden",
        "hidden byte x",
        "The variable is not part of the state: two states that differ only in it count as one.",
    ),
    ("if", "if :: … :: … fi", "Chooses one of the options that can be executed; waits while none can."),
    ("in", "for (x in a)", "Goes through an array or a channel."),
    ("init", "init { … }", "A process that exists from the start."),
    (
        "inline",
        "inline name(parameters) { … }",
        "A piece of text that replaces each of its calls. It has no variables of its own scope beyond its braces.",
    ),
    ("int", "int x", "A variable from -2147483648 to 2147483647."),
    ("len", "len(q)", "How many messages the channel holds."),
    ("local", "local byte x", "A promise that only one process uses this variable."),
    (
        "ltl",
        "ltl name { formula }",
        "A property of all runs: `[]` always, `<>` eventually, `U` until, `W` weak until, `V` release, `X` next.",
    ),
    (
        "mtype",
        "mtype = { a, b }",
        "Symbolic constants; also the type of variables that hold them. `mtype:set` keeps several sets apart.",
    ),
    ("nempty", "nempty(q)", "Whether the channel holds a message."),
    ("never", "never { … }", "A claim: an automaton of what must not happen. It moves together with the model."),
    ("nfull", "nfull(q)", "Whether the channel has room."),
    ("notrace", "notrace { … }", "Sends and receives that must not happen in this order."),
    ("np_", "np_", "True if no process is at a `progress` label. Only in claims."),
    ("od", "do :: … od", "Ends a `do`."),
    ("of", "[n] of { types }", "Introduces the fields of a channel's messages."),
    ("pc_value", "pc_value(pid)", "The number of the place at which a process is."),
    ("pid", "pid p", "A variable for process numbers, from 0 to 255."),
    ("printf", "printf(\"text %d\\n\", x)", "Prints while a run is shown; no effect on a check."),
    ("printm", "printm(x)", "Prints the name of a symbolic constant."),
    ("priority", "run P() priority 2", "A process moves only if none with a higher priority can."),
    ("proctype", "proctype P(parameters) { … }", "A process type. `run P(…)` or `active` creates processes of it."),
    ("provided", "proctype P() provided (condition) { … }", "Its processes move only while the condition holds."),
    ("return", "return e", "Ends an inline that was called as `x = name(…)`, with this value."),
    (
        "run",
        "run P(arguments)",
        "Creates a process; its value is the number of the process, or 0 if there are too many.",
    ),
    (
        "d_step",
        "d_step { … }",
        "One single step. It must not wait inside, and of several options the first one that can be executed is taken.",
    ),
    ("select", "select (i : from .. to)", "Gives the variable any value between the two, both included."),
    ("set_priority", "set_priority(pid, n)", "Changes the priority of a process."),
    ("short", "short x", "A variable from -32768 to 32767."),
    ("skip", "skip", "Always executable, does nothing."),
    ("timeout", "timeout", "True if no statement of any process can be executed."),
    ("trace", "trace { … }", "Sends and receives on the channels named in it must happen in this order."),
    ("true", "true", "The constant 1."),
    ("show", "show byte x", "Shown in message charts; no effect on a check."),
    ("typedef", "typedef Name { fields }", "A structure."),
    ("unless", "{ … } unless { … }", "Does the first, until the second can be executed; then that instead."),
    ("unsigned", "unsigned x : bits", "A variable with this number of bits."),
    ("xr", "xr q", "A promise that only this process receives from the channel."),
    ("xs", "xs q", "A promise that only this process sends to the channel."),
    ("_", "q ? _", "A field of a message that nobody wants."),
    ("_p", "_p", "The place at which this process is."),
    ("_pid", "_pid", "The number of this process."),
    ("_last", "_last", "The number of the process that moved last."),
    ("_nr_pr", "_nr_pr", "How many processes there are."),
    ("_priority", "_priority", "The priority of this process."),
];

/// How a keyword is written and what it means.
pub fn keyword_help(word: &str) -> Option<(&'static str, &'static str)> {
    KEYWORD_HELP.iter().find(|(known, ..)| *known == word).map(|(_, code, prose)| (*code, *prose))
}

/// Pieces of text with places to fill in: name, what it is, text.
pub(super) const SNIPPETS: &[(&str, &str, &str)] = &[
    ("proctype", "a process type", "proctype ${1:P}($2) {\n\t$0\n}"),
    ("active proctype", "a process from the start", "active proctype ${1:P}() {\n\t$0\n}"),
    ("init", "the initial process", "init {\n\t$0\n}"),
    ("if", "a choice", "if\n:: ${1:condition} ->\n\t$0\n:: else\nfi"),
    ("do", "a loop", "do\n:: ${1:condition} ->\n\t$0\n:: else -> break\nod"),
    ("atomic", "an atomic sequence", "atomic {\n\t$0\n}"),
    ("d_step", "one single step", "d_step {\n\t$0\n}"),
    ("for", "a loop over numbers", "for (${1:i} : ${2:0} .. ${3:N - 1}) {\n\t$0\n}"),
    ("inline", "an inline", "inline ${1:name}($2) {\n\t$0\n}"),
    ("ltl", "a property", "ltl ${1:name} { ${0:[] (p -> <> q)} }"),
    ("never", "a claim", "never {\n\tdo\n\t:: ${0:condition} -> break\n\t:: true\n\tod\n}"),
    ("mtype", "symbolic constants", "mtype = { $0 };"),
    ("chan", "a channel", "chan ${1:q} = [${2:1}] of { ${0:byte} };"),
    ("typedef", "a structure", "typedef ${1:Name} {\n\t$0\n};"),
    ("unless", "an escape", "{\n\t${1:skip}\n} unless {\n\t$0\n}"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::PREDEFINED;
    use crate::token::KEYWORDS;

    #[test]
    fn every_keyword_is_explained() {
        let words = KEYWORDS.iter().map(|(word, _)| *word).chain(PREDEFINED);
        for word in words.clone() {
            assert!(keyword_help(word).is_some(), "{word}");
        }
        assert_eq!(KEYWORD_HELP.len(), words.count());
    }
}
