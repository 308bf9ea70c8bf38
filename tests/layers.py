#!/usr/bin/env python3
"""Checks the shape of the tree; speaks TAP.

tests/layers.py [--build DIR]

Dependencies point one way: a room includes only base and the rooms whose
things it takes, the command only public headers; file names are unique; files
stay short; and what was built keeps to it: the command links only the shared
library, which shows only nd_* names.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.dont_write_bytecode = True

import tap  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent

# room: the rooms it may include, besides itself, base and the public headers.
# Every room stands below those that include it, so there are no cycles; "study/"
# stands for the rooms in that folder.
ROOMS = {
    "base": "",
    # the walk: bytes → documents → tokens → shingles → sketches → candidates → pairs → clusters
    "codec": "",
    "input": "codec",
    "text": "",
    "feature": "text",
    "sketch": "feature",
    "candidate": "sketch",
    "similarity": "text feature",
    "join": "feature similarity",
    "cluster": "",
    "output": "codec",
    # the wiring: one run, step by step
    "settings": "input text feature sketch candidate similarity cluster",
    "outdir": "input output settings",
    "store": "input output settings outdir",
    "sketchfile": "input text sketch candidate similarity settings outdir store",
    "read": "input text feature sketch candidate cluster settings store",
    "find": "text feature sketch candidate similarity join settings store read",
    "method": "text sketch candidate similarity output settings find",
    "verify": "text feature similarity cluster settings read find",
    "result": "similarity cluster output settings outdir store read find verify",
    "report": "text similarity cluster output settings store result",
    "stage": "text candidate similarity cluster output settings store read find verify result report",
    "plan": "text feature candidate store read",
    "job": "input sketch candidate cluster output settings outdir store sketchfile read result report plan",
    # beside it: experiments on any corpus, a room per paper
    "study/common": "input text sketch similarity output settings outdir store read job",
    "study/eval": "input cluster output study/common",
    "study/explain": "text output study/common",
    "study/ye": "output store result plan job study/common",
    "study/nikkhoo": "input text output outdir store report job study/common study/ye",
    "study/williams": "feature sketch candidate store study/common",
    "study/xiao": "feature join output settings read plan study/common",
    "study/henzinger": "feature sketch candidate settings store study/common",
    "cli": "",
}
MOST_FILES, MOST_LINES = 40, 5000  # of a room
LONGEST = 700
LONG_FILES = {  # file: why it may be longer
    "tests/unit/test_html.c": "the slow reference stands beside the cases",
    "tests/unit/test_stream.c": "every kind of damage, for two containers",
}
GENERATED = {"text/html_entities.h", "output/page_assets.h"}  # made while building
# Names that tools prescribe, so that they cannot be unique.
COMMON_NAMES = {"meson.build", "README.md", "__init__.py", "__main__.py", "conftest.py", "run", "run.py"}
# The system's own libraries; any other would be reached past libneardup.
SYSTEM = re.compile(r"^(libc|libm|libpthread|libdl|librt|libgcc_s|ld-linux[\w-]*|ld64)\.so")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def sources(*folders, endings=(".c", ".h")):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in endings:
                yield path


def name_of(path):
    return str(path.relative_to(ROOT))


def includes(path):
    text = path.read_text("utf-8", "replace")
    for found in INCLUDE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield f"{name_of(path)}:{line}", found[1] == '"', found[2]


def is_public(target):
    return target == "neardup.h" or target.startswith("neardup/")


def room_of(target):
    """The room of a header as includes name it; None: not in a room."""
    folder = target.rpartition("/")[0]
    return folder if folder and (ROOT / "src" / folder).is_dir() else None


def check_room(room):
    allowed = set(ROOMS[room].split()) | {room}
    if room != "cli":
        allowed.add("base")
    for path in files_of(room):
        for place, quoted, target in includes(path):
            other = room_of(target)
            if is_public(target):
                if not (ROOT / "include" / target).exists():
                    yield f"{place}: no such public header: {target}"
            elif ".." in target.split("/"):
                yield f"{place}: {target}: name it from src/"
            elif other and (quoted or other in ROOMS):
                if other not in allowed:
                    yield f"{place}: {room} must not include {target}"
                elif target not in GENERATED and not (ROOT / "src" / target).exists():
                    yield f"{place}: no such file: {target}"
            elif quoted and "/" not in target and not (path.parent / target).exists():
                # Only generated headers may be missing, and only from their own room.
                recipe = path.parent / "meson.build"
                if not recipe.exists() or f"'{target}'" not in recipe.read_text():
                    yield f"{place}: {target} is neither here nor generated here"


def files_of(room):
    """A room's own C files, not those of rooms inside it."""
    return [p for p in sources(f"src/{room}") if p.parent == ROOT / "src" / room]


def check_rooms_known():
    for folder in sorted({p.parent for p in sources("src")}):
        name = str(folder.relative_to(ROOT / "src"))
        if name not in ROOMS:
            yield f"src/{name}: a room that the table in tests/layers.py does not know"


def check_order():
    """Rooms stand below those that include them."""
    below = {"base"}
    for room, takes in ROOMS.items():
        for other in takes.split():
            if other not in below:
                yield f"{room} takes {other}, which does not stand below it"
        below.add(room)


def check_size():
    for room in ROOMS:
        found = files_of(room)
        lines = sum(p.read_bytes().count(b"\n") for p in found)
        if len(found) > MOST_FILES or lines > MOST_LINES:
            yield f"src/{room}: {len(found)} files, {lines} lines"


def check_public():
    for path in sources("include"):
        for place, quoted, target in includes(path):
            if quoted and not is_public(target):
                yield f"{place}: a public header includes {target}"


def check_unique():
    places = defaultdict(list)
    endings = (".c", ".h", ".py", ".pyx", ".pxd", ".sh", ".scd")
    folders = ("include", "src", "tests", "bench", "fuzz", "examples", "tools", "python", "man")
    for path in sources(*folders, endings=endings):
        if path.name not in COMMON_NAMES:
            places[path.name].append(name_of(path))
    for name, found in sorted(places.items()):
        if len(found) > 1:
            yield f"{name}: {', '.join(found)}"


def check_length():
    endings = (".c", ".h", ".py", ".pyx", ".sh")
    for path in sources("include", "src", "tests", "bench", "fuzz", "tools", "python", endings=endings):
        lines = path.read_bytes().count(b"\n")
        if lines > LONGEST and name_of(path) not in LONG_FILES:
            yield f"{name_of(path)}: {lines} lines, more than {LONGEST}"
    for name in LONG_FILES:
        if not (ROOT / name).exists():
            yield f"{name}: listed in tests/layers.py, but not there"


def check_test_names():
    """A test's name says what it asserts, which takes more than one word."""
    for path in sources("tests", endings=(".c", ".h", ".py")):
        text = path.read_text("utf-8")
        names = re.findall(r"^static void (\w+)\(void \*\*(?:state|unused)\) \{", text, re.M)
        names += re.findall(r"^def (test_\w+)\(", text, re.M)
        for name in names:
            if "_" not in name.removeprefix("test_"):
                yield f"{name_of(path)}: {name}"


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check_search_path(build):
    """Libraries are looked for beside the file, never below the current folder."""
    files = [build / "neardup", build / "libneardup.so", *build.glob("python/neardup-command"),
             *build.glob("python/*.so"), *build.glob("tests/unit/test_*"), *build.glob("fuzz/fuzz_*")]
    for path in files:
        if path.is_file():
            yield from bad_entries(path)


def bad_entries(path):
    dynamic = output_of("readelf", "-dW", str(path))
    for entries in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic):
        for entry in entries.split(":"):
            if not re.match(r"\$ORIGIN(/|$)", entry):
                yield f"{path} looks for libraries in {entry or 'an empty path'}"


def check_installed(build):
    """Staged, and moved: the command finds the library that came with it."""
    with tempfile.TemporaryDirectory(prefix="neardup-layers-") as folder:
        staged, moved = Path(folder).resolve() / "staged", Path(folder).resolve() / "moved"
        output_of("meson", "install", "-C", str(build), "--no-rebuild", "--quiet", "--destdir", str(staged))
        staged.rename(moved)
        for command in moved.rglob("bin/neardup"):
            yield from bad_entries(command)
            loaded = subprocess.run([command], cwd=folder, capture_output=True, text=True,
                                    env={"LD_TRACE_LOADED_OBJECTS": "1"}).stdout
            found = re.search(r"libneardup\.so\S* => (\S+)", loaded)
            at_usr = command == moved / "usr/bin/neardup"  # found by the system's own path
            if not at_usr and not (found and Path(found[1]).resolve().is_relative_to(moved)):
                yield f"installed and moved, neardup loads {found[1] if found else 'no libneardup'}"
            return
        yield "no neardup was installed"


def check_linked(build):
    dynamic = output_of("readelf", "-dW", str(build / "neardup"))
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    if not any(n.startswith("libneardup.so") for n in needed):
        yield "neardup does not use libneardup.so"
    for name in needed:
        if not SYSTEM.match(name) and not name.startswith("libneardup.so"):
            yield f"neardup links {name} past the library"


def check_exported(build):
    names = output_of("nm", "-D", "--defined-only", str(build / "libneardup.so"))
    shown = [line.split()[-1].split("@")[0] for line in names.splitlines()]
    if not shown:
        yield "libneardup.so shows no names at all"
    for name in shown:
        if not name.startswith("nd_"):
            yield f"libneardup.so shows {name}"


def check_hardened(build):
    for name in ("neardup", "libneardup.so"):
        path = str(build / name)
        if not (build / name).exists():
            continue
        if "Type:                              DYN" not in output_of("readelf", "-hW", path):
            yield f"{name} is not position-independent"
        if "GNU_RELRO" not in output_of("readelf", "-lW", path):
            yield f"{name} has no RELRO segment"
        if not re.search(r"\(FLAGS(_1)?\).*\b(NOW|BIND_NOW)\b", output_of("readelf", "-dW", path)):
            yield f"{name} does not bind at start"
        if re.search(r"GNU_STACK.*RWE", output_of("readelf", "-lW", path)):
            yield f"{name} has an executable stack"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    build = parser.parse_args().build

    cases = [(f"src/{room} includes only what it takes", check_room(room))
             for room in ROOMS if (ROOT / "src" / room).is_dir()]
    cases += [
        ("every room is in the table", check_rooms_known()),
        ("no room includes one above it: there are no cycles", check_order()),
        (f"no room has more than {MOST_FILES} files or {MOST_LINES} lines", check_size()),
        ("public headers include only public headers", check_public()),
        ("file names are unique", check_unique()),
        (f"no file has more than {LONGEST} lines", check_length()),
        ("a test's name has more than one word", check_test_names()),
    ]
    if (build / "libneardup.so").exists() and shutil.which("readelf") and shutil.which("nm"):
        cases += [
            ("the shared library shows only nd_* names", check_exported(build)),
            ("libraries are looked for from $ORIGIN only", check_search_path(build)),
            ("position-independent, RELRO, bound at start", check_hardened(build)),
        ]
        if (build / "neardup").exists():
            if shutil.which("meson") and (build / "build.ninja").exists():
                cases.append(("installed and moved, the command loads its own library",
                              check_installed(build)))
            cases.append(("the command links only the shared library", check_linked(build)))

    return tap.print_checks(cases)


if __name__ == "__main__":
    sys.exit(main())
