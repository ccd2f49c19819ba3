; What is indented: the names are those of nvim-treesitter.

[
  (block)
  (atomic)
  (d_step)
  (option)
  (field_list)
  (mtype_declaration)
  (ltl_definition)
  (parenthesized_expression)
  (arguments)
  (parameters)
] @indent.begin

(typedef_definition "{") @indent.begin

["}" ")" "fi" "od"] @indent.end
["}" ")" "fi" "od" "::"] @indent.branch

[(comment) (string) (c_text) (preproc_inactive)] @indent.auto

[(preproc_define) (preproc_include) (preproc_if) (preproc_directive)] @indent.zero
