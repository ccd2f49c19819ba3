"""`fabius mcp`, asked by the client library of the Model Context Protocol."""

import asyncio
import json
import os
import time
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

MODELS = Path(__file__).resolve().parents[2] / "models"
ENDLESS = "int x, y, z; active [3] proctype P() { do :: x++ :: y++ :: z++ :: assert(x + y + z != -5) od }"


async def ask(session, tool, **arguments):
    """The text of an answer, and whether it is an error. The library also compares documents with schemas, where a tool has one."""
    answer = (await session.call_tool(tool, arguments)).model_dump(by_alias=True)
    return answer["content"][0]["text"], answer["isError"]


async def document(session, tool, **arguments):
    text, is_error = await ask(session, tool, **arguments)
    assert not is_error, text
    return json.loads(text)


async def main():
    server = StdioServerParameters(command=os.environ["FABIUS"], args=["mcp"], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = {tool.name for tool in (await session.list_tools()).tools}
        assert tools == {"check", "explore", "causes", "schedule", "explain"}, tools

        broken = str(MODELS / "peterson_broken.pml")
        report = await document(session, "check", path=broken)
        assert report["verdict"] == "violated" and report["properties"][0]["violations"][0]["steps"] == 9

        began = time.monotonic()
        report = await document(session, "check", text=ENDLESS, timeout_seconds=1)
        assert report["verdict"] == "undecided" and time.monotonic() - began < 30

        walked = await document(session, "explore", path=broken, steps=[1])
        assert len(walked["steps"]) == 1 and walked["choices"], walked.keys()
        assert (await document(session, "schedule", path=broken))["verdict"]

        text, is_error = await ask(session, "explain", code="F0602")
        assert not is_error and text.startswith("F0602 Deadlock"), text
        text, is_error = await ask(session, "check", text="", timeout=3)
        assert is_error and "unknown argument `timeout`" in text, text
    print("the client library agrees")


asyncio.run(main())
