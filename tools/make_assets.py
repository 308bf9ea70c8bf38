#!/usr/bin/env python3
"""Writes style sheets and scripts as C strings: make_assets.py OUTPUT FILE...

page.css becomes nd_asset_page_css. Comments and indentation stay behind: the
pages are read in a browser, the files here.
"""
import re
import sys
from pathlib import Path


def squeeze(text, script):
    text = re.sub(r"^[ \t]*/\*.*?\*/[ \t]*\n", "", text, flags=re.S | re.M)
    lines = [line.strip() for line in text.splitlines()]
    if script:
        lines = [line for line in lines if not line.startswith("//")]
    return "\n".join(line for line in lines if line) + "\n"


def literal(line):
    escaped = line.replace("\\", "\\\\").replace('"', '\\"')
    return '    "' + escaped.encode("ascii").decode() + '\\n"'


def main():
    out = ["/* Made by tools/make_assets.py. */"]
    for name in sys.argv[2:]:
        path = Path(name)
        text = squeeze(path.read_text("utf-8"), path.suffix == ".js")
        if "</" in text and path.suffix == ".js":
            raise SystemExit(f"{name}: '</' could end the script element; write '<' + '/'")
        label = re.sub(r"\W", "_", path.name)
        out.append(f"static const char nd_asset_{label}[] __attribute__((unused)) =")
        out += [literal(line) for line in text.splitlines()]
        out[-1] += ";"
    Path(sys.argv[1]).write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
