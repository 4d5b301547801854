#!/usr/bin/env python3
"""Send the requests of a corpus to a server and compare the answers.

usage: corpus.py PORT FILE

The file describes its own format. All requests are sent at the same time, each on its own connection. A response has a
length (or no body, for HEAD and for 100), so responses are counted exactly; a second answer to one request is found.
"""
import asyncio
import re
import sys

QUIET_S = 1.0  # A connection is read until it is closed or has been silent for this long.


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
        if received.startswith(head.group(0) * 2):  # The head is sent twice, and the connection is closed.
            return found + [head.group(1).decode() + "!"]
        code = head.group(1).decode()
        length = re.search(rb"\r\ncontent-length: *(\d+)", head.group(0).lower())
        body = int(length.group(1)) if length else 0
        if code == "100" or len([c for c in found if c != "100"]) in heads:
            body = 0
        found.append(code)
        received = received[head.end() + body :]
    return found


def matches(wanted, found, closed):
    for choice in wanted.split("|"):
        if choice == "none" and not found and not closed:
            return True
        if choice == "close" and not found and closed:
            return True
        codes = choice.split(",")
        if len(codes) == len(found) and all(w == f or (w == "4xx" and f[0] == "4") for w, f in zip(codes, found)):
            return True
    return False


async def send(port, text):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    received, closed = b"", False
    try:
        writer.write(text)
        await writer.drain()
        while not closed:
            piece = await asyncio.wait_for(reader.read(1 << 20), QUIET_S)
            received += piece
            closed = not piece
    except asyncio.TimeoutError:
        pass
    except ConnectionError:
        closed = True
    writer.close()
    return received, closed


async def run_case(port, name, wanted, text, gate):
    async with gate:
        data = unescape(text)
        received, closed = await send(port, data)
    requests = data.split(b"\r\n\r\n")
    heads = {i for i, r in enumerate(requests) if r.startswith(b"HEAD ")}
    found = statuses(received, heads)
    if matches(wanted, found, closed):
        return True
    print(f"# {name}: wanted {wanted}, got {','.join(found) or ('close' if closed else 'none')}")
    return False


async def main(port, path):
    gate = asyncio.Semaphore(100)
    with open(path, encoding="latin-1") as file:
        cases = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    good = await asyncio.gather(*(run_case(port, *case, gate) for case in cases))
    print(f"{sum(good)} of {len(cases)} requests got the right answer")
    return 0 if all(good) and len(cases) >= 300 else 1


sys.exit(asyncio.run(main(int(sys.argv[1]), sys.argv[2])))
