-- Tries the debugger in Neovim with nvim-dap: starts on a counterexample, steps forwards and back, goes on to the failing
-- assertion, and ends. FABIUS is the binary, MODEL the model; says what it saw, and ends with 1 where something is wrong.

local dap = require("dap")
local PATIENCE = 60000

dap.adapters.fabius = { type = "executable", command = vim.env.FABIUS, args = { "dap" } }

local function fail(text)
  io.stderr:write("not ok: " .. text .. "\n")
  vim.cmd("cquit 1")
end

--- Waits until something is so; what is wrong otherwise.
local function wait(what, holds)
  if not vim.wait(PATIENCE, holds, 20) then
    fail("waited in vain for " .. what)
  end
end

local stopped = {}
dap.listeners.after.event_stopped["fabius-test"] = function(_, body)
  table.insert(stopped, body)
end
local ended = false
dap.listeners.after.event_terminated["fabius-test"] = function()
  ended = true
end

--- Does something after which the debugger stops again, and returns the line where it stands.
local function after(what, act)
  local before = #stopped
  act()
  wait(what .. ": to stop", function()
    return #stopped > before
  end)
  local session = dap.session()
  local frame
  session:request("stackTrace", { threadId = stopped[#stopped].threadId }, function(problem, answer)
    frame = problem and { line = -1 } or answer.stackFrames[1]
  end)
  wait(what .. ": the stack", function()
    return frame ~= nil
  end)
  print(("%s: line %d, %s"):format(what, frame.line, stopped[#stopped].reason))
  return frame.line
end

vim.cmd("edit " .. vim.env.MODEL)
local first = after("start", function()
  dap.run({ type = "fabius", request = "launch", name = "counterexample", program = vim.env.MODEL, property = "safety" })
end)
local second = after("step", dap.step_over)
local third = after("step", dap.step_over)
if after("step back", dap.step_back) ~= second then
  fail("a step back does not undo a step")
end
if after("step", dap.step_over) ~= third then
  fail("the same step leads elsewhere")
end
after("continue", dap.continue)
local assertion = vim.fn.search("assert(")
local last = stopped[#stopped]
if last.reason ~= "exception" then
  fail("it does not stop at the assertion, but for " .. last.reason)
end
local frames
dap.session():request("stackTrace", { threadId = last.threadId }, function(_, answer)
  frames = answer.stackFrames
end)
wait("the stack", function()
  return frames ~= nil
end)
if frames[1].line ~= assertion then
  fail(("the assertion is in line %d, not in line %d"):format(assertion, frames[1].line))
end
if first == third then
  fail("two steps lead nowhere")
end
dap.terminate()
wait("the end", function()
  return ended or dap.session() == nil
end)
print("ok: nvim-dap")
vim.cmd("quitall!")
