// Microsoft's own client for testing debug adapters, against the real binary:
//
//   npm install --no-save --prefix /tmp/conformance @vscode/debugadapter-testsupport
//   NODE_PATH=/tmp/conformance/node_modules node tests/debugger/conformance.mjs target/debug/fabius models/peterson_broken.pml
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const { DebugClient } = require("@vscode/debugadapter-testsupport");
import assert from "node:assert";
import { resolve } from "node:path";
const [fabius, program] = process.argv.slice(2).map((path) => resolve(path));
const dc = new DebugClient(fabius, "dap", "fabius", { env: process.env }, true);
await dc.start();
await dc.hitBreakpoint({ program, counterexample: 0, stopOnEntry: false }, { path: program, line: 18 });
await assert.rejects(dc.customRequest("illegal_request"));
const threads = await dc.threadsRequest();
const stack = await dc.stackTraceRequest({ threadId: threads.body.threads[0].id });
const scopes = await dc.scopesRequest({ frameId: stack.body.stackFrames[0].id });
for (const scope of scopes.body.scopes) await dc.variablesRequest({ variablesReference: scope.variablesReference });
await dc.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
await Promise.all([dc.continueRequest({ threadId: 1 }), dc.assertStoppedLocation("exception", { path: program, line: 19 })]);
const info = await dc.exceptionInfoRequest({ threadId: 1 });
assert.equal(info.body.exceptionId, "assertion");
await Promise.all([dc.stepBackRequest({ threadId: 1 }), dc.waitForEvent("stopped")]);
await Promise.all([dc.reverseContinueRequest({ threadId: 1 }), dc.waitForEvent("stopped")]);
await Promise.all([dc.nextRequest({ threadId: 1 }), dc.waitForEvent("stopped")]);
const targets = await dc.stepInTargetsRequest({ frameId: stack.body.stackFrames[0].id });
assert.ok(targets.body.targets.length > 1);
await Promise.all([dc.stepInRequest({ threadId: 1, targetId: targets.body.targets[1].id }), dc.waitForEvent("stopped")]);
await dc.evaluateRequest({ expression: "critical", context: "watch" });
await Promise.all([dc.terminateRequest(), dc.waitForEvent("terminated")]);
await dc.stop();
console.log("the conformance client is content");
process.exit(0);
