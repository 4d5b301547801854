#!/usr/bin/env python3
"""Send the requests of a corpus to a server and compare the answers.

usage: corpus.py PORT FILE [proxy]

The file describes its own format. All requests are sent at the same time, each on its own connection. A response has a
length (or no body, for HEAD and for 100), so responses are counted exactly; a second answer to one request is found.
With "proxy", the port is that of a proxy in front of the server. It may answer a request itself, but there may not be
more answers than without it, and none that says that the server failed (500, 502, 503, 504).
"""
import asyncio
import re
import sys

# A connection is read until it is closed, or has been silent for this time after the last response that is expected.
QUIET_S = 1.0
LATE_S = 20.0


def unescape(text):
    return re.sub(rb"\\(x[0-9a-f]{2}|.)", replace_escape, text.encode("latin-1"))


def replace_escape(match):
    code = match.group(1)
    known = {b"r": b"\r", b"n": b"\n", b"t": b"\t", b"v": b"\v", b"0": b"\0", b"\\": b"\\"}
    return bytes([int(code[1:], 16)]) if code[:1] == b"x" and len(code) == 3 else known[code]


def statuses(received, heads):
    """The status codes of all responses in the received bytes; "bad" for bytes that are no response."""
    found = []
    while received:
        head = re.match(rb"HTTP/1\.[01] (\d{3}) [^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n", received)
        if not head:
            return found + ["bad"]
        code = head.group(1).decode()
        length = re.search(rb"\r\ncontent-length: *(\d+)", head.group(0).lower())
        body = int(length.group(1)) if length else 0
        if code == "100" or len([c for c in found if c != "100"]) in heads:
            body = 0
        found.append(code)
        received = received[head.end() + body :]
    return found


def matches(wanted, found, closed):
    return found == wanted.split(",") or (wanted == "none" and not found and not closed)


def matches_behind_proxy(wanted, more, found):
    if more == "old" and found == ["bad"]:
        return True
    most = 1 if wanted == "none" else len([code for code in wanted.split(",") if code != "100"])
    answers = [code for code in found if code != "100"]
    return len(answers) <= int(more if more.isdigit() else most) and not {"bad", "500", "502", "503", "504"} & set(answers)


async def send(port, text, heads, answers):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    received, closed = b"", False
    try:
        writer.write(text)
        await writer.drain()
        while not closed:
            complete = len(statuses(received, heads)) >= answers
            piece = await asyncio.wait_for(reader.read(1 << 20), QUIET_S if complete else LATE_S)
            received += piece
            closed = not piece
    except asyncio.TimeoutError:
        pass
    except ConnectionError:
        closed = True
    writer.close()
    return received, closed


async def run_case(port, proxy, name, wanted, text, gate):
    wanted, _, more = wanted.partition(" ")
    data = unescape(text)
    heads = {i for i, r in enumerate(data.split(b"\r\n\r\n")) if r.startswith(b"HEAD ")}
    # Behind a proxy, some of the responses may be missing.
    answers = 0 if proxy or wanted == "none" else len(wanted.split(","))
    async with gate:
        received, closed = await send(port, data, heads, answers)
    found = statuses(received, heads)
    if matches_behind_proxy(wanted, more, found) if proxy else matches(wanted, found, closed):
        return True
    print(f"# {name}: wanted {wanted}, got {','.join(found) or ('close' if closed else 'none')}")
    return False


async def main(port, path, proxy):
    gate = asyncio.Semaphore(100)
    with open(path, encoding="latin-1") as file:
        cases = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    good = await asyncio.gather(*(run_case(port, proxy, *case, gate) for case in cases))
    print(f"{sum(good)} of {len(cases)} requests got the right answer")
    return 0 if all(good) and len(cases) >= 300 else 1


sys.exit(asyncio.run(main(int(sys.argv[1]), sys.argv[2], len(sys.argv) > 3)))
