-- A Neovim of today (0.10 or later): everything that its client asks for by itself or can ask for.
local model = vim.env.MODEL
local function fail(what)
  io.stderr:write("neovim: " .. what .. "\n")
  os.exit(1)
end
local function say(what) io.stdout:write(what .. "\n") end
local function wait(what, condition, shown)
  if not vim.wait(60000, condition, 20) then
    fail(what .. " did not come: " .. vim.inspect(shown and shown() or vim.diagnostic.get(0)))
  end
end

vim.cmd("edit " .. model)
local buffer = vim.api.nvim_get_current_buf()
local messages = {}
vim.lsp.handlers["window/logMessage"] = function(_, message) table.insert(messages, message.message) end
vim.lsp.handlers["window/showMessage"] = function(_, message) table.insert(messages, message.message) end
local id = vim.lsp.start({ name = "fabius", cmd = { vim.env.FABIUS, "lsp" }, root_dir = vim.fs.dirname(model) })
local client = id and vim.lsp.get_client_by_id(id)
if not client then fail("the server did not start") end

local function found()
  for _, one in ipairs(vim.diagnostic.get(buffer)) do
    if one.message:find("can fail") then return one end
  end
end
wait("the assertion", found)
local one = found()
local text = vim.api.nvim_buf_get_text(buffer, one.lnum, one.col, one.end_lnum, one.end_col, {})[1]
if text ~= "assert(critical == 1)" then fail("underlined is " .. text) end
say("underlined is `" .. text .. "`, counted in " .. client.offset_encoding)
local related = one.user_data.lsp.relatedInformation
if #related < 3 then fail("only " .. #related .. " key steps") end
say(#related .. " key steps, the last: " .. related[#related].message)

local function ask(method, params)
  params.textDocument = { uri = vim.uri_from_bufnr(buffer) }
  local answer = vim.lsp.buf_request_sync(buffer, method, params, 30000)
  local own = answer and answer[id]
  if not own or own.err then fail(method .. ": " .. vim.inspect(answer)) end
  return own.result
end
local hover = ask("textDocument/hover", { position = { line = 0, character = 12 } })
if not hover.contents.value:find("byte critical") then fail("no hover: " .. vim.inspect(hover)) end
say("hover: " .. hover.contents.value:gsub("\n", " | "))

vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
wait("an inlay hint", function() return #vim.lsp.inlay_hint.get({ bufnr = buffer }) > 0 end)
for _, hint in ipairs(vim.lsp.inlay_hint.get({ bufnr = buffer })) do
  local label = hint.inlay_hint.label
  say("hint in line " .. hint.inlay_hint.position.line .. ": " .. (type(label) == "string" and label or vim.inspect(label)))
end

vim.lsp.semantic_tokens.start(buffer, id)
wait("a coloured word", function()
  local tokens = vim.lsp.semantic_tokens.get_at_pos(buffer, 6, 30)
  return tokens and #tokens > 0
end)
local token = vim.lsp.semantic_tokens.get_at_pos(buffer, 6, 30)[1]
if token.type ~= "variable" then fail("`critical` is coloured as " .. token.type) end
say("`critical` is coloured as " .. token.type)

local lenses = ask("textDocument/codeLens", {})
for _, lens in ipairs(lenses) do say("lens: " .. lens.command.title) end
if #lenses < 2 then fail("no lenses") end

local function actions()
  local range = { start = { line = one.lnum, character = 20 }, ["end"] = { line = one.lnum, character = 20 } }
  return ask("textDocument/codeAction", { range = range, context = { diagnostics = {} } })
end
wait("a fix that was tried", function()
  for _, action in ipairs(actions()) do
    if action.title:find("holds") or action.title:find("still fails") then return true end
  end
end, actions)
for _, action in ipairs(actions()) do say("action: " .. action.title) end

-- An edit that changes nothing for the worse: the old run still happens.
vim.api.nvim_buf_set_lines(buffer, 7, 7, false, { "    /* 🙂 */ turn = 0;" })
wait("the old run", function() local now = found() return now and now.message:find("still fails") end)
say("after an edit: " .. found().message:gsub("\n", " | "))
-- The fix.
vim.api.nvim_buf_set_lines(buffer, 5, 6, false, { "    atomic { critical == 0; critical++ };" })
vim.cmd("silent write")
wait("the end of the assertion", function() return not found() end)
say("mended")
-- A syntax error while typing; a client of today asks for these itself.
vim.api.nvim_buf_set_lines(buffer, 0, 1, false, { "byte turn critical;" })
wait("the syntax error", function()
  for _, now in ipairs(vim.diagnostic.get(buffer)) do
    if now.severity == vim.diagnostic.severity.ERROR then return true end
  end
end)
say("a syntax error: " .. vim.diagnostic.get(buffer)[1].message:gsub("\n.*", ""))
for _, message in ipairs(messages) do say("message: " .. message) end
vim.lsp.stop_client(id)
wait("the end of the server", function() return vim.lsp.get_client_by_id(id) == nil or client.is_stopped() end)
os.exit(0)
