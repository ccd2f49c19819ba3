; Scopes, what they define, and what refers to it.

[
  (source_file)
  (proctype_definition)
  (init_definition)
  (inline_definition)
  (never_claim)
  (trace_definition)
] @local.scope

(declaration (declarator name: (identifier) @local.definition))
(inline_parameters (identifier) @local.definition)
(mtype_declaration constant: (identifier) @local.definition)
(labeled_statement label: (identifier) @local.definition)
(proctype_definition name: (identifier) @local.definition)
(inline_definition name: (identifier) @local.definition)
(typedef_definition name: (identifier) @local.definition)
(preproc_define name: (identifier) @local.definition)

(identifier) @local.reference
(type_identifier) @local.reference
