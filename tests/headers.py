#!/usr/bin/env python3
"""Checks the public headers; speaks TAP.

tests/headers.py [--build DIR] [--update]

Every header compiles alone, as C and as C++, with every compiler that is here; no function takes
more than five parameters; and libneardup.so shows the functions in include/neardup/symbols.txt,
the sizes of structs are those in include/neardup/sizes.txt.  Both lists only grow: --update adds
what is new and removes nothing.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

import tap  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
HEADERS = [INCLUDE / "neardup.h", *sorted((INCLUDE / "neardup").glob("*.h"))]
SYMBOLS, SIZES = INCLUDE / "neardup/symbols.txt", INCLUDE / "neardup/sizes.txt"
MOST_PARAMETERS = 5
COMPILERS = {"gcc": ["-x", "c", "-std=c11"], "clang": ["-x", "c", "-std=c11"],
             "g++": ["-x", "c++", "-std=c++11"], "clang++": ["-x", "c++", "-std=c++11"]}
# Made by the library, and only pointed to: they may grow at the end.
GROWING = {"nd_option_info", "nd_study_info", "nd_progress"}


def compile_header(compiler, header):
    name = header.relative_to(INCLUDE)
    run = subprocess.run(
        [compiler, *COMPILERS[compiler], "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
         "-I", str(INCLUDE), "-"], input=f'#include "{name}"\n', capture_output=True, text=True)
    if run.returncode:
        yield from run.stderr.splitlines()[:5]


def code_of(header):
    return re.sub(r"/\*.*?\*/", "", header.read_text("utf-8"), flags=re.S)


def functions():
    """(header, name, number of parameters) of every exported function."""
    for header in HEADERS:
        for found in re.finditer(r"\bND_API\b[^;{]*?\b(nd_\w+)\(([^;]*?)\)\s*(ND_\w+[^;]*)?;", code_of(header)):
            parameters = found[2].strip()
            yield header.name, found[1], 0 if parameters == "void" else parameters.count(",") + 1


def check_parameters():
    for header, name, n in functions():
        if n > MOST_PARAMETERS:
            yield f"{header}: {name} takes {n} parameters"


def check_comments():
    for header in HEADERS:
        text = header.read_text("utf-8")
        for found in re.finditer(r"([^\n]*)\nND_API [^;{]*?\b(nd_\w+)\(", text):
            if not found[1].rstrip().endswith("*/"):
                yield f"{header.name}: {found[2]} has no comment"
        if re.search(r"\bthe same of\b", text, re.I):
            yield f"{header.name}: \"the same of\" does not describe anything"


def compare(path, now, update, what):
    """What is in the list must be there; what is there must be in the list."""
    listed = path.read_text().splitlines() if path.exists() else []
    if update:
        listed = sorted({*listed, *now})
        path.write_text("\n".join(listed) + "\n")
    if listed != sorted(set(listed)):
        yield f"{path.name} is not sorted"
    for name in sorted(set(listed) - set(now)):
        yield f"{what} in {path.name} is gone or changed: {name}"
    for name in sorted(set(now) - set(listed)):
        yield f"{what} not in {path.name}: {name}; tests/headers.py --update adds it"


def exported(build):
    names = subprocess.run(["nm", "-D", "--defined-only", str(build / "libneardup.so")], check=True,
                           capture_output=True, text=True).stdout
    return [line.split()[-1].split("@")[0] for line in names.splitlines()]


def check_symbols(build, update):
    now = exported(build)
    yield from compare(SYMBOLS, now, update, "a function")
    for name in sorted({name for _, name, _ in functions()} ^ set(now)):
        yield f"{name} is declared or exported, but not both"


def check_sizes(update):
    """Sizes on machines with 64-bit pointers."""
    names = sorted({n for h in HEADERS for n in re.findall(r"^\} (nd_\w+);", code_of(h), re.M)} - GROWING)
    lines = "".join(f'  printf("{n} %zu\\n", sizeof({n}));\n' for n in names)
    with tempfile.TemporaryDirectory(prefix="neardup-headers-") as folder:
        program = Path(folder) / "sizes"
        compiler = next(c for c in ("gcc", "clang", "cc") if shutil.which(c))
        subprocess.run([compiler, "-x", "c", "-I", str(INCLUDE), "-o", str(program), "-"], check=True, text=True,
                       input=f"#include <neardup.h>\n#include <stdio.h>\nint main(void) {{\n{lines}  return 0;\n}}\n")
        now = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    yield from compare(SIZES, now, update, "the size of a struct")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    cases = [(f"{header.relative_to(INCLUDE)} compiles alone with {compiler}", compile_header(compiler, header))
             for compiler in COMPILERS if shutil.which(compiler) for header in HEADERS]
    cases += [(f"no function takes more than {MOST_PARAMETERS} parameters", check_parameters()),
              ("every function has a comment", check_comments())]
    if sys.maxsize > 2**32:
        cases.append(("structs keep their sizes", check_sizes(options.update)))
    if (options.build / "libneardup.so").exists() and shutil.which("nm"):
        cases.append(("libneardup.so shows the listed functions",
                      check_symbols(options.build, options.update)))
    return tap.print_checks(cases)


if __name__ == "__main__":
    sys.exit(main())
