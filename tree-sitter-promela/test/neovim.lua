-- Reads a model in Neovim with the grammar, and runs each query on it. Ends with an exit code; says what it saw.
local library, queries, model = vim.env.LIBRARY, vim.env.QUERIES, vim.env.MODEL
local function run()
  -- Neovim 0.10 has new names for both.
  local add = vim.treesitter.language and vim.treesitter.language.add
  if add then add("promela", { path = library }) else vim.treesitter.require_language("promela", library) end
  local parse_query = vim.treesitter.query and vim.treesitter.query.parse or vim.treesitter.parse_query
  vim.cmd("edit " .. model)
  local buffer = vim.api.nvim_get_current_buf()
  local root = vim.treesitter.get_parser(buffer, "promela"):parse()[1]:root()
  assert(not root:has_error(), "the model has an error")
  for _, name in ipairs({ "highlights", "folds", "indents", "locals", "tags" }) do
    local text = table.concat(vim.fn.readfile(queries .. "/" .. name .. ".scm"), "\n")
    local query, found = parse_query("promela", text), {}
    for id in query:iter_captures(root, buffer, 0, -1) do found[query.captures[id]] = true end
    assert(next(found), name .. " finds nothing")
    if name == "highlights" then io.stderr:write("colours: " .. table.concat(vim.tbl_keys(found), " ") .. "\n") end
  end
end
local well, why = pcall(run)
if not well then
  io.stderr:write("neovim: " .. tostring(why) .. "\n")
  vim.cmd("cquit 1")
end
vim.cmd("qall!")
