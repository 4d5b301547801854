#!/usr/bin/env python3
"""Checks pictures that gnuplot has drawn as SVG: their colours are those of the palette, every text and line lies
inside the picture, and no two texts overlap. Widths are estimated: a character of the sans font is at least 0.45 of its size wide.
Usage: plots.py FILE.svg…"""
import re
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
with open("src/present/palette.c", encoding="utf-8") as source:
    PALETTE = set(re.findall(r"#[0-9a-f]{6}", source.read().split("hm__palette_dark")[0]))
GREYS = {"#000000", "#ffffff", "#444444", "#999999", "#dddddd"}  # Text, paper, frame, impossible values, grid.


def colours(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = {c.lower() for c in re.findall(r"#[0-9A-Fa-f]{6}", text)}
    for triple in re.findall(r"rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\)", text):
        found.add("#%02x%02x%02x" % tuple(map(int, triple)))
    return found


def texts(root):
    """Yields the words, left, top, right and bottom of each horizontal text."""
    for group in root.iter(SVG + "g"):
        words = "".join("".join(t.itertext()) for t in group.findall(SVG + "text")).strip()
        place = re.fullmatch(r"translate\(([-\d.]+),([-\d.]+)\)(.*)", group.get("transform", ""))
        if not words or not place or "rotate" in place.group(3):
            continue
        x, y, size = float(place.group(1)), float(place.group(2)), float(group.get("font-size", "13"))
        # Digits are wider than the mean character; this width finds ticks that nearly touch.
        width = (0.55 if re.fullmatch(r"[\d.]+", words) else 0.45) * size * len(words)
        left = x - {"middle": width / 2, "end": width}.get(group.get("text-anchor"), 0)
        yield words, left, y - 0.6 * size, left + width, y


def faults(path):
    root = ET.parse(path).getroot()
    width, height = (float(v) for v in root.get("viewBox").split()[2:])
    for colour in sorted(colours(path) - PALETTE - GREYS):
        yield f"the colour {colour} is not in the palette"
    shapes = {shape for defs in root.iter(SVG + "defs") for shape in defs.iter()}  # Of points; their centre is at 0.
    for path_element in set(root.iter(SVG + "path")) - shapes:
        points = re.findall(r"(-?[\d.]+),(-?[\d.]+)", path_element.get("d", ""))
        if any(not (0 <= float(x) <= width and 0 <= float(y) <= height) for x, y in points):
            yield "a line leaves the picture"
    boxes = list(texts(root))
    if len(boxes) < 5:
        yield "there are fewer than five texts"
    for i, (words, left, top, right, bottom) in enumerate(boxes):
        if left < 0 or top < 0 or right > width or bottom > height:
            yield f"'{words}' is cut by the edge"
        for other, left2, top2, right2, bottom2 in boxes[:i]:
            if left < right2 and left2 < right and top < bottom2 and top2 < bottom:
                yield f"'{words}' covers '{other}'"


bad = [f"{path}: {fault}" for path in sys.argv[1:] for fault in faults(path)]
print("\n".join(bad))
sys.exit(bool(bad) or len(sys.argv) < 2)
