-- Opens a model in Neovim with Fabius as its language server, and says how many milliseconds after START (nanoseconds of the clock) the first
-- error is underlined.
local fabius, model, start = vim.env.FABIUS, vim.env.MODEL, tonumber(vim.env.START)
vim.cmd("edit " .. model)
local buffer = vim.api.nvim_get_current_buf()
local client = vim.lsp.start_client({ name = "fabius", cmd = { fabius, "lsp" }, root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(buffer, client)
local function errors()
  return vim.diagnostic.get(buffer, { severity = vim.diagnostic.severity.ERROR })
end
if not vim.wait(60000, function() return #errors() > 0 end, 1) then
  io.stderr:write("no error was underlined\n")
  vim.cmd("cquit 1")
end
local seconds, microseconds = vim.loop.gettimeofday()
local now = seconds * 1000 + microseconds / 1000
print(string.format("%.0f ms to `%s` in line %d", now - start / 1e6, errors()[1].message:gsub("\n.*", ""), errors()[1].lnum + 1))
vim.cmd("qall!")
