-- Opens a model in Neovim with Fabius as its language server, waits for the assertion, mends the
-- model, saves, and waits until the assertion is gone. Ends with an exit code; says what it saw.
local fabius, model = vim.env.FABIUS, vim.env.MODEL
local function fail(what)
  io.stderr:write("neovim: " .. what .. "\n")
  vim.cmd("cquit 1")
end

vim.cmd("edit " .. model)
local buffer = vim.api.nvim_get_current_buf()
local client = vim.lsp.start_client({ name = "fabius", cmd = { fabius, "lsp" }, root_dir = vim.fn.getcwd() })
if not client then fail("the server did not start") end
vim.lsp.buf_attach_client(buffer, client)

local function diagnostics()
  return vim.diagnostic.get(buffer)
end
local function wait(what, condition)
  if not vim.wait(20000, condition, 20) then
    fail(what .. " did not come: " .. vim.inspect(diagnostics()))
  end
end

wait("the assertion", function()
  for _, one in ipairs(diagnostics()) do
    if one.message:find("assertion can fail") then return true end
  end
end)
local found = diagnostics()[1]
if found.lnum ~= 4 then fail("the assertion is in line " .. found.lnum) end
local related = found.user_data and found.user_data.lsp and found.user_data.lsp.relatedInformation
if related and #related < 3 then fail("only " .. #related .. " key steps") end
print("the assertion is underlined: " .. found.message:gsub("\n.*", ""))

vim.api.nvim_buf_set_lines(buffer, 3, 4, false, { "    atomic { critical == 0; critical++ };" })
vim.cmd("silent write")
wait("the end of the assertion", function() return #diagnostics() == 0 end)
print("mended")

local hover = vim.lsp.buf_request_sync(buffer, "textDocument/hover", {
  textDocument = { uri = vim.uri_from_bufnr(buffer) },
  position = { line = 0, character = 12 },
}, 5000)
local answer = hover and hover[client] and hover[client].result
if not answer or not answer.contents.value:find("byte critical") then fail("no hover: " .. vim.inspect(hover)) end
print("hover says: " .. answer.contents.value:gsub("\n", " "))
vim.cmd("qall!")
