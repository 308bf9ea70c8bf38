#!/usr/bin/env python3
"""Holds the documents against the program: tests/docs.py [DOCUMENT...]

Every ```sh and ```console block of README.md, docs/*.md and examples/README.md
runs, document by document, in a fresh folder with `neardup` in its PATH and
    examples/  corpus.jsonl  crawl.warc.gz  news.trec  docs/  titles.txt
A sh block must succeed.  In a console block each "$ command" must print, on
stdout and stderr, what is shown below it, but for times and memory; a line
"..." stands for any lines.  ```shell blocks are not run: they install things.
A ```c block that begins with "/* NAME.c: " is written to that file, for the
commands after it to compile.

Then: options and commands that documents name exist, relative links lead
somewhere, no path of a machine is left; manual pages render and agree with
--help, as does the bash completion; the picture is up to date.  Speaks TAP.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
NEARDUP = BUILD / "neardup"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
WRITTEN_BY_BENCH = "docs/performance.md"
TIMEOUT = 60


def load(path):
    """A program of tools/, as a module."""
    sys.dont_write_bytecode = True
    loader = SourceFileLoader(path.name.replace("-", "_"), str(path))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


HELP = load(ROOT / "tools/man-options")
OPTIONS = {c: HELP.options(str(NEARDUP), c) for c in HELP.commands(str(NEARDUP))}
GLOBAL_OPTIONS = {"--help", "--version"}
NAMES = {o.name for found in OPTIONS.values() for o in found} | GLOBAL_OPTIONS


def documents():
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "examples/README.md"]
    return [p for p in found if p.exists()]


def title(path):
    return str(path.relative_to(ROOT))


# --- running what a document shows -------------------------------------------

def prepare(folder):
    """The files that the documents' commands are about."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    corpus = folder / "examples/corpus"
    shutil.copy(corpus / "articles.jsonl", folder / "corpus.jsonl")
    shutil.copy(corpus / "crawl.warc.gz", folder)
    shutil.copy(corpus / "news.trec", folder)
    shutil.copytree(corpus / "text", folder / "docs")
    texts = [p.read_text("utf-8", "replace") for p in sorted((corpus / "text").iterdir())]
    (folder / "titles.txt").write_text("".join(t.split("\n")[0] + "\n" for t in texts), "utf-8")


def environment(folder):
    tools = folder / ".bin"
    tools.mkdir()
    (tools / "neardup").symlink_to(NEARDUP)
    return {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(folder),
            "TMPDIR": str(folder / ".tmp"), "TERM": "dumb", "COLUMNS": "80", "LC_ALL": "C.UTF-8",
            "PKG_CONFIG_PATH": str(BUILD / "meson-uninstalled"), "LD_LIBRARY_PATH": str(BUILD)}


def run(command, folder, env):
    try:
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return -1, f"stopped after {TIMEOUT} s\n"
    return done.returncode, done.stdout.decode("utf-8", "replace")


def masked(text):
    """Without what differs from run to run and machine to machine."""
    text = re.sub(r"^time      .*$", "time      …", text, flags=re.M)
    varies = "seconds|memory|memory_budget|threads|run|cpu_level"
    return re.sub(rf'("\w*(?:{varies})": )[^,\n]*', r"\1…", text)


def agrees(shown, printed):
    parts = [re.escape(p) for p in re.split(r"^\.\.\.\n", masked(shown), flags=re.M)]
    return re.fullmatch("(?:.*\n)*?".join(parts), masked(printed)) is not None


def commands_of(block):
    """(command, shown output) of a console block; a line that ends in \\ goes on."""
    found = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line[2:].rstrip("\n"), ""])
        elif found and not found[-1][1] and found[-1][0].endswith("\\"):
            found[-1][0] += "\n" + line.rstrip("\n")
        elif found:
            found[-1][1] += line
    return found


def run_document(path):
    """Problems, and how many commands were run."""
    problems, count = [], 0
    with tempfile.TemporaryDirectory(prefix="neardup-docs-") as name:
        folder = Path(name).resolve()
        prepare(folder)
        env = environment(folder)
        (folder / ".tmp").mkdir()
        for language, block in FENCE.findall(path.read_text("utf-8")):
            program = re.match(r"/\* ([\w-]+\.c): ", block)
            if language == "c" and program:
                (folder / program[1]).write_text(block, "utf-8")
            elif language == "sh":
                status, output = run("set -e\n" + block, folder, env)
                count += 1
                if status != 0:
                    problems.append(f"exit status {status}:\n{block}{output}")
            elif language == "console":
                for command, shown in commands_of(block):
                    status, printed = run(command, folder, env)
                    count += 1
                    if "error:" in printed or "warning:" in printed or not agrees(shown, printed):
                        problems.append(f"$ {command}\nshown:\n{shown}printed:\n{printed}")
    return problems, count


# --- what documents name -------------------------------------------------------

def named_options(path):
    """Options in commands of ours, and in `code`; other programs have their own."""
    text = path.read_text("utf-8")
    found = set()
    for language, block in FENCE.findall(text):
        if language not in ("sh", "console", "shell"):
            continue
        for line in block.splitlines():
            for part in re.split(r"[|;&]", line):
                if re.search(r"(^|[\s/])neardup\s", part):
                    found |= set(re.findall(r"(?<![\w-])--[a-z][\w-]*", part))
    prose = FENCE.sub("", text)
    for code in re.findall(r"`([^`\n]+)`", prose):
        ours = code.startswith("--") or code.startswith("neardup ")
        if ours:
            found |= set(re.findall(r"(?<![\w-])--[a-z][\w-]*", code))
    return found


def check_options(path):
    tools = {"--check", "--pairs", "--list"} if path.parent == ROOT / "examples" else set()
    allowed = NAMES | tools
    return [f"there is no option {o}" for o in sorted(named_options(path) - allowed)]


def heading_anchor(line):
    words = re.sub(r"[`*]", "", line.lstrip("#").strip()).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def check_links(path):
    problems = []
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text("utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists():
            problems.append(f"the link {target} leads nowhere")
        elif anchor:
            lines = re.sub(r"```.*?```", "", file.read_text("utf-8"), flags=re.S).splitlines()
            if anchor not in {heading_anchor(x) for x in lines if x.startswith("#")}:
                problems.append(f"{target}: no such heading")
    return problems


def check_paths(path):
    """Absolute paths that only one machine has."""
    roots = "home|root|work|mnt|opt|Users|var|srv"
    places = re.findall(rf"(?<![\w.:/~)}}\]>$-])/(?:{roots})/[\w./-]*", path.read_text("utf-8"))
    return [f"the path {p} belongs to one machine" for p in places]


def check_targets():
    """Targets of make that a document names, or that are declared, are there."""
    text = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", text, re.M))
    named = {t: "Makefile" for line in re.findall(r"^\.PHONY:(.*)$", text, re.M) for t in line.split()}
    for path in [*documents(), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        page = path.read_text("utf-8")
        shown = re.findall(r"`make ([a-z-]+)", page)
        shown += [t for line in re.findall(r"^(?:sudo |    )?make ([a-z -]+?)(?:  |$)", page, re.M)
                  for t in line.split()]
        named.update({t: title(path) for t in shown})
    return [f"{where}: make has no target {t}" for t, where in sorted(named.items()) if t not in targets]


# --- manual and completion -----------------------------------------------------

def check_man_page(path):
    text = path.read_text("utf-8")
    done = subprocess.run(["scdoc"], input=text.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode != 0:
        return [done.stderr.decode()]
    problems = []
    if path.name == "neardup.1.scd":
        problems += [f"the command {c} is not named" for c in OPTIONS if f"\n*{c}*" not in text]
    else:
        command = path.name[len("neardup-"):-len(".1.scd")]
        if command not in OPTIONS:
            return [f"there is no command {command}"]
        for example in re.findall(r"^\t(.*\bneardup .*)$", text.split("# EXAMPLES")[1], re.M):
            problems += [f"example: there is no option {o}"
                         for o in set(re.findall(r"--[a-z][\w-]*", example)) - NAMES]
    for page in re.findall(r"\*(neardup[\w-]*)\*\(1\)", text):
        if not (path.parent / f"{page}.1.scd").exists():
            problems.append(f"there is no page {page}(1)")
    return problems


def check_studies():
    """Every study is named by --help and the manual, and offered by the completion."""
    said = subprocess.run([NEARDUP, "study", "none", "x"], stderr=subprocess.PIPE, encoding="utf-8").stderr
    names = set(re.search(r"the studies are: (.*)", said)[1].split(", "))
    shown = " ".join(subprocess.run([NEARDUP, "study", "--help"], stdout=subprocess.PIPE,
                                    encoding="utf-8").stdout.split())
    page = (ROOT / "man/neardup-study.1.scd").read_text("utf-8")
    return [f"--help: no word about {n}" for n in sorted(names) if f"{n} (" not in shown] + \
        [f"the manual has no {n}" for n in sorted(names) if f"\n*{n}*\n" not in page] + \
        [f"the completion has no {n}" for n in sorted(names - complete("neardup", "study", ""))]


def complete(*words):
    """What bash would offer for the last word."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _neardup 2>/dev/null; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, "-", str(ROOT / "completions/neardup.bash"), *words],
                          stdout=subprocess.PIPE, encoding="utf-8")
    return set(done.stdout.split())


def check_completion():
    problems = []

    def same(got, wanted, where):
        for word in sorted(wanted - got):
            problems.append(f"{where}: {word} is missing")
        for word in sorted(got - wanted):
            problems.append(f"{where}: there is no {word}")

    same(complete("neardup", ""), set(OPTIONS) | {"help"} | GLOBAL_OPTIONS, "commands")
    same(complete("neardup", "help", ""), set(OPTIONS), "help")
    for command, found in OPTIONS.items():
        same(complete("neardup", command, "--"), {o.name for o in found}, command)
        for o in found:
            if o.words:
                same(complete("neardup", command, o.name, ""), set(o.words), f"{command} {o.name}")
    keep = next(o for o in OPTIONS["dedup"] if o.name == "--keep")
    same(complete("neardup", "dedup", "--keep", ""),
         {w.replace("NAME", "") for w in re.split(r", | or ", keep.text.split(": ", 1)[1])}, "--keep")
    # bash cuts words at = and :
    same(complete("neardup", "pairs", "--verify", "=", "sk"), {"sketch"}, "--verify=sk")
    same(complete("neardup", "pairs", "--shingle", "chars", ":"), {"9"}, "--shingle chars:")
    return problems


def run_tool(*command):
    done = subprocess.run([sys.executable, *map(str, command)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8")
    return [] if done.returncode == 0 else [done.stdout]


def check_summary():
    """Every field of summary.json has its line in docs/formats.md, and no other does."""
    text = (ROOT / "docs/formats.md").read_text("utf-8").split("## summary.json")[1].split("\n## ")[0]
    told = {f for row in re.findall(r"^\|([^|]*)\|", text, re.M) for f in re.findall(r"`(\w+)`", row)}
    told |= {"kept", "dropped", "rejected"} if "`kept` + `dropped` + `rejected`" in text else set()
    with tempfile.TemporaryDirectory(prefix="neardup-docs-") as folder:
        subprocess.run([NEARDUP, "dedup", ROOT / "examples/corpus", "-o", f"{folder}/out"], check=True,
                       stderr=subprocess.DEVNULL)
        summary = json.loads(Path(folder, "out/summary.json").read_text("utf-8"))
        files = {p.name for p in Path(folder, "out").iterdir()}
    fields = set(summary)
    for name, part in summary.items():
        if isinstance(part, dict) and name != "options":
            fields |= set(part)
    problems = [f"summary.json: {f} is not described" for f in sorted(fields - told)]
    problems += [f"summary.json has no {f}" for f in sorted(told - fields)]
    readme = (ROOT / "README.md").read_text("utf-8")
    listed = {f.rstrip("/") for f in re.findall(r"^\| `([\w.]+/?)` \|", readme, re.M)}
    problems += [f"README.md and the output differ in {f}" for f in sorted(files ^ listed)]
    return problems


def check_map():
    """CONTRIBUTING draws every room, and names functions that exist."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("## Where things are")[1].split("\n## ")[0]
    picture = FENCE.search(text)[2]
    rooms = {p.parent.name for p in (ROOT / "src").rglob("*.c")}
    problems = [f"the map lacks the room {r}" for r in sorted(rooms) if not re.search(rf"\b{r}\b", picture)]
    code = "".join(p.read_text("utf-8") for p in (ROOT / "src").rglob("*.c"))
    named = set(re.findall(r"`((?:nd|cli)_\w+)`", text))
    return problems + [f"{f} is not a function" for f in sorted(named) if f" {f}(" not in code]


def check_version():
    version = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text("utf-8"))[1]
    said = subprocess.run([NEARDUP, "--version"], stdout=subprocess.PIPE, encoding="utf-8").stdout
    problems = [] if said.startswith(f"neardup {version} (") else [f"--version says {said}"]
    if f"\n## {version}" not in (ROOT / "CHANGELOG.md").read_text("utf-8"):
        problems.append(f"CHANGELOG.md has no {version}")
    # meson.build alone says it; measurements name the version they were made with.
    for path in ["pyproject.toml", "README.md", "Makefile", "python", "man", "src", "tools"]:
        files = [p for p in (ROOT / path).rglob("*") if p.is_file()] or [ROOT / path]
        problems += [f"{title(p)} repeats the version" for p in files
                     if version.encode() in p.read_bytes()]
    return problems


# --- all of it -------------------------------------------------------------------

def cases(only):
    papers = [p for p in documents() if not only or title(p) in only]
    for path in papers:
        if title(path) == WRITTEN_BY_BENCH:
            continue
        yield f"{title(path)}: commands and programs", lambda p=path: run_document(p)
        yield f"{title(path)}: options", lambda p=path: check_options(p)
    if only:
        return
    for path in [*papers, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        yield f"{title(path)}: links and paths", lambda p=path: check_links(p) + check_paths(p)
    for path in sorted((ROOT / "man").glob("*.scd")):
        yield f"{title(path)}: manual page", lambda p=path: check_man_page(p)
    yield "manual: a page for every command", lambda: [
        f"no page for {c}" for c in OPTIONS if not (ROOT / f"man/neardup-{c}.1.scd").exists()]
    yield "manual: options are those of --help", lambda: run_tool(ROOT / "tools/man-options", "--check")
    yield "make has the targets that are named", check_targets
    yield "studies are described", check_studies
    yield "bash completion agrees with --help", check_completion
    yield "the picture is up to date", lambda: run_tool(ROOT / "tools/plot-recall", "--check")
    yield "summary.json and the output folder are described", check_summary
    yield "CONTRIBUTING maps the rooms", check_map
    yield "version", check_version


def main():
    failed = number = 0
    listed = list(cases(sys.argv[1:]))
    print(f"1..{len(listed)}", flush=True)
    for name, check in listed:
        number += 1
        if "manual page" in name and not shutil.which("scdoc"):
            print(f"ok {number} - {name} # SKIP scdoc is not installed")
            continue
        result = check()
        problems, count = result if isinstance(result, tuple) else (result, None)
        failed += bool(problems)
        note = f" # {count} commands" if count else ""
        print(f"{'not ok' if problems else 'ok'} {number} - {name}{note}")
        for line in "\n".join(problems).splitlines():
            print(f"# {line}")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
