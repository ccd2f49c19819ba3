; What is coloured how. Later patterns count where several match.

(identifier) @variable

[
  "active" "proctype" "D_proctype" "init" "inline" "typedef" "never" "trace" "notrace" "ltl" "priority" "provided"
  "atomic" "d_step" "unless" "of" "in" "xr" "xs" "run" "eval" "goto" "return" "assert"
  "c_code" "c_decl" "c_expr" "c_state" "c_track" "select" (break)
] @keyword

["if" "fi" (else) "::"] @keyword.conditional
["do" "od" "for"] @keyword.repeat
(visibility) @keyword.modifier

[
  "#define" "#include" "#if" "#ifdef" "#ifndef" "#elif" "#else" "#endif" "#if 0"
  (preproc_directive)
] @keyword.directive

(primitive_type) @type.builtin
(mtype "mtype" @type.builtin)
(mtype_declaration "mtype" @type.builtin)
(type_identifier) @type
(typedef_definition name: (identifier) @type)
(mtype_declaration set: (identifier) @type)
(mtype set: (identifier) @type)

(mtype_declaration constant: (identifier) @constant)
((identifier) @constant (#match? @constant "^[A-Z][A-Z0-9_]+$"))

(proctype_definition name: (identifier) @function)
(inline_definition name: (identifier) @function)
(run_expression process: (identifier) @function.call)
(call_expression function: (identifier) @function.call)
(macro_invocation name: (identifier) @function.macro)
(remote_reference process: (identifier) @function.call)
(ltl_definition name: (identifier) @property)
(never_claim name: (identifier) @property)

(preproc_define name: (identifier) @constant.macro)
(preproc_define name: (identifier) @function.macro parameters: (preproc_parameters))

(channel_query function: _ @function.builtin)
(process_query function: _ @function.builtin)
["printf" "printm" "set_priority"] @function.builtin

(parameters (declaration (declarator name: (identifier) @variable.parameter)))
(inline_parameters (identifier) @variable.parameter)
(field_list (declaration (declarator name: (identifier) @property)))
(field_expression field: (identifier) @property)
((identifier) @variable.builtin (#match? @variable.builtin "^(_|_pid|_nr_pr|_last|_priority)$"))

(labeled_statement label: (identifier) @label)
(goto_statement label: (identifier) @label)
(remote_reference label: (identifier) @label)

(number) @number
(negative_number) @number
(boolean) @boolean
[(skip) (timeout) (non_progress)] @constant.builtin
(character) @character
[(string) (system_path)] @string
(comment) @comment
(preproc_inactive) @comment
[(preproc_text) (preproc_parameters) (c_text)] @none

(binary_expression operator: _ @operator)
(unary_expression operator: _ @operator)
(send_statement operator: _ @operator)
(receive_statement operator: _ @operator)
(poll_expression operator: _ @operator)
["=" "++" "--" ".." "@"] @operator
["->" ";" "," "." ":"] @punctuation.delimiter
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
