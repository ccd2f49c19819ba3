; What a list of definitions shows.

(proctype_definition name: (identifier) @name) @definition.function
(init_definition "init" @name) @definition.function
(inline_definition name: (identifier) @name) @definition.method
(preproc_define name: (identifier) @name) @definition.macro
(typedef_definition name: (identifier) @name) @definition.class
(ltl_definition name: (identifier) @name) @definition.property
(never_claim name: (identifier) @name) @definition.property
(source_file (declaration (declarator name: (identifier) @name)) @definition.variable)
(mtype_declaration constant: (identifier) @name @definition.constant)

(run_expression process: (identifier) @name) @reference.call
(call_expression function: (identifier) @name) @reference.call
(type_identifier) @name @reference.type
