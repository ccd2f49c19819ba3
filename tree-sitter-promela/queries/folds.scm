; What can be folded.

[
  (block)
  (atomic)
  (d_step)
  (if_statement)
  (do_statement)
  (option)
  (typedef_definition)
  (mtype_declaration)
  (ltl_definition)
  (c_code)
  (c_declaration)
  (c_expression)
  (comment)
  (preproc_skipped)
] @fold
