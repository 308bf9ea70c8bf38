"""Promise 8: an input is never written over, and what a command is not sure to
replace stays as it was.

A table: every command with every output option, every kind of input, every way
in which the two can be one, and every flag.  Each cell must be refused, naming
both paths, and leave the whole tree as it was, inodes and all."""

import os
import shutil
import signal
import subprocess
import time

from promise_tools import Broken, expect, promise

FLAGS = [(), ("--force",), ("--resume", "never"), ("--force", "--resume", "never")]

DOCUMENTS = "".join('{"id": "%d", "text": "%s"}\n' % (i, f"a text of some words number {i // 2} " * 5)
                    for i in range(6))
RUN = "".join(f"1 Q0 {i} {i + 1} {9 - i} r\n" for i in range(6))
PLAN = ("neardup-plan 1\nthreshold 0.8\nprecision 0.9\nshingle words:5\ntokens words\n"
        "group - 1\nend 1\n")

# command: (arguments around its inputs, outputs {option: kind}, inputs {role: may be a folder}).
# A role is an option, or INPUT; {} in an option stands for the path.
COMMANDS = {
    "dedup": (["INPUT"], {"-o": "dir"}, {"INPUT": True, "--against": True, "--sample adaptive:{}": False}),
    "study": (["sources", "INPUT"], {"-o": "dir"}, {"INPUT": True, "--truth": False}),
    "prevalence": (["--run", "INPUT", "--pairs", "s/pairs"], {"-o": "dir", "--filter-runs": "dir"},
                   {"INPUT": False, "--qrels": False, "--pairs": False}),
    "explain": (["0", "1", "INPUT"], {"-o": "file"}, {"INPUT": True}),
    "explain files": (["INPUT", "s/one.txt"], {"-o": "file"}, {"INPUT": False}),
    "plan": (["--precision", "0.9", "INPUT"], {"-o": "file"}, {"INPUT": True}),
    "sketch": (["INPUT"], {"-o": "file"}, {"INPUT": True}),
    "merge": (["INPUT", "s/other.nds"], {"-o": "file"}, {"INPUT": False}),
}
# A valid file for every role; s/ is apart from all outputs.
USUAL = {"dedup": "s/in.jsonl", "study": "s/in.jsonl", "prevalence": "s/run", "explain": "s/in.jsonl",
         "explain files": "s/two.txt", "plan": "s/in.jsonl", "sketch": "s/in.jsonl", "merge": "s/one.nds"}
FILES = {"--against": "w/in.jsonl", "--sample adaptive:{}": "w/plan", "--truth": "w/pairs",
         "--qrels": "w/qrels", "--pairs": "w/pairs"}

# Relations: the output's path, the input's path (X: the input's file, below w), and for which
# kinds of outputs.
OF_FILES = [
    ("the same", "X", "X", "file dir"),
    ("through .", "w/./X", "X", "file dir"),
    ("through ..", "w/sub/../X", "./X", "file dir"),
    ("through what is not there", "w/none/../X", "X", "file dir"),
    ("absolute", "/X", "X", "file dir"),
    ("the output a link", "to/X", "X", "file dir"),
    ("the input a link", "X", "to/X", "file dir"),
    ("both links", "to/X", "again/X", "file dir"),
    ("the folder a link", "lw/X", "X", "file dir"),
    ("hard links", "hard/X", "X", "file dir"),
    ("below the file", "X/out", "X", "dir"),
    ("the output holds it", "w", "X", "dir"),
    ("... with a slash", "w/", "X", "dir"),
    ("... through a link", "lw", "X", "dir"),
    ("... and the input a link", "w", "to/X", "dir"),
    ("... two levels up", ".", "X", "dir"),
    ("... mounted", "mw", "X", "dir"),
    ("the input mounted", "w", "mw/X", "dir"),
    ("both in the mount", "mw/X", "X", "file dir"),
]
OF_FOLDERS = [
    ("the same", "c", "c", "file dir"),
    ("slashes", "c/", "c", "file dir"),
    ("through .", "./c/.", "c", "file dir"),
    ("through a link", "lc", "c", "file dir"),
    ("the input a link", "c", "lc", "file dir"),
    ("a new file or folder in it", "c/new", "c", "file dir"),
    ("deep in it", "c/no/such/thing", "c", "file dir"),
    ("in its folder", "c/sub/new", "c", "file dir"),
    ("its folder", "c/sub", "c", "file dir"),
    ("its file", "c/a.jsonl", "c", "file dir"),
    ("in it through a link", "lc/new", "c", "file dir"),
    ("in it through what is not there", "none/../c/new", "c", "file dir"),
    ("in it, absolute", "/c/new", "c", "file dir"),
    ("in it through a mount", "ms/new", "c", "file dir"),
    ("a link in it leads to a file", "done/kept/in.jsonl", "linked", "file"),
    ("a link in it leads into the output", "done", "linked", "dir"),
    ("a hard link in it", "hard/twin.jsonl", "linked", "file"),
    ("the output holds it", ".", "c", "dir"),
    ("what was kept", "done", "done/kept", "dir"),
    ("... mounted", "done", "mk", "dir"),
    ("a part of it, mounted", "c", "ms", "file dir"),
]
NEEDS_MOUNT = ("mw", "ms", "mk")


def make_tree(lab):
    """The tree, and whether it has mounts."""
    tree = lab.fresh("sacred")
    for folder in ("s", "w/sub", "to", "again", "hard", "c/sub", "linked", "mw", "ms", "mk"):
        (tree / folder).mkdir(parents=True)

    def run(*arguments):
        done = subprocess.run([lab.neardup, *arguments], cwd=tree, capture_output=True, text=True)
        expect(done.returncode == 0, f"{arguments}: {done.stderr}")

    for name in ("in.jsonl", "run", "pairs", "qrels", "plan", "one.txt", "two.txt"):
        text = {"in.jsonl": DOCUMENTS, "run": RUN, "pairs": "0\t1\t1\n", "plan": PLAN,
                "qrels": "1 0 0 1\n"}.get(name, "some words of a text")
        (tree / "s" / name).write_text(text)
    run("sketch", "s/in.jsonl", "-o", "s/one.nds", "--method", "simhash")
    run("sketch", "s/in.jsonl", "-o", "s/other.nds", "--method", "simhash")
    run("dedup", "s/in.jsonl", "-o", "done")
    for path in (tree / "s").iterdir():
        shutil.copy(path, tree / "w" / path.name)
        (tree / "to" / path.name).symlink_to(f"../w/{path.name}")
        (tree / "again" / path.name).symlink_to(f"../to/{path.name}")
        os.link(tree / "w" / path.name, tree / "hard" / path.name)
    shutil.copy(tree / "s/in.jsonl", tree / "c/a.jsonl")
    shutil.copy(tree / "s/in.jsonl", tree / "c/sub/b.jsonl")
    (tree / "lw").symlink_to("w")
    (tree / "lc").symlink_to("c")
    (tree / "linked/kept.jsonl").symlink_to("../done/kept/in.jsonl")
    shutil.copy(tree / "s/in.jsonl", tree / "hard/twin.jsonl")
    os.link(tree / "hard/twin.jsonl", tree / "linked/twin.jsonl")
    (tree / "page.html").write_text("a page of somebody else's")
    return tree


class Mounts:
    """Bind mounts, where we may make them."""

    def __init__(self, tree):
        self.tree, self.made = tree, []

    def __enter__(self):
        for of, at in (("w", "mw"), ("c/sub", "ms"), ("done/kept", "mk")):
            done = subprocess.run(["mount", "--bind", self.tree / of, self.tree / at],
                                  capture_output=True)
            if done.returncode != 0:
                break
            self.made.append(at)
        return self

    def __exit__(self, *_):
        for at in self.made:
            subprocess.run(["umount", self.tree / at], check=True)


def picture(tree):
    """Names, kinds, sizes, inodes, contents."""
    seen = {}
    for place, folders, names in os.walk(tree):
        for name in folders + names:
            path = os.path.join(place, name)
            stat = os.lstat(path)
            content = os.readlink(path) if os.path.islink(path) else None
            if content is None and os.path.isfile(path):
                with open(path, "rb") as f:
                    content = f.read()
            seen[path] = (stat.st_mode, stat.st_ino, stat.st_nlink, content,
                          None if os.path.isdir(path) else (stat.st_size, stat.st_mtime_ns))
    return seen


class Cells:
    """Runs commands in the tree, which must refuse and leave it alone."""

    def __init__(self, lab, tree):
        self.lab, self.tree, self.n = lab, tree, 0
        self.before = picture(tree)

    def run(self, arguments, **more):
        more = {"stdin": subprocess.DEVNULL, **more} if "input" not in more else more
        return subprocess.run([self.lab.neardup, *arguments], cwd=self.tree, capture_output=True,
                              text=True, timeout=60, **more)

    def unchanged(self, title):
        after = picture(self.tree)
        if after != self.before:
            names = sorted(p for p in {*after, *self.before} if after.get(p) != self.before.get(p))
            raise Broken(f"{title}: changed: {', '.join(names)}")

    def refused(self, arguments, *words, statuses=(1, 2), **more):
        done = self.run(arguments, **more)
        self.n += 1
        title = " ".join(arguments)
        expect(done.returncode in statuses, f"{title}: exit {done.returncode}: {done.stderr}")
        for word in words:
            expect(word in done.stderr, f"{title}: no {word!r} in: {done.stderr}")
        self.unchanged(title)


def command_line(command, role, path, output, place, flags):
    """The command with this input in this role, everything else apart."""
    line = [command.split()[0]]
    usual = USUAL[command]
    for word in COMMANDS[command][0]:
        line.append(word if word != "INPUT" else path if role == "INPUT" else usual)
    if role == "--pairs":
        line[line.index("--pairs") + 1] = path
    elif role != "INPUT":
        option, _, form = role.partition(" ")
        line += [option, form.replace("{}", path) if form else path]
    if command == "sketch":
        line += ["--method", "simhash"]
    return [*line, output, place, *flags]


def paths_of(relation, tree, name):
    base = os.path.basename(name)
    out = []
    for path in relation[1:3]:
        absolute = path.startswith("/")
        path = path.lstrip("/")
        if path in ("X", "./X", "X/out"):
            path = path.replace("X", f"w/{base}")
        else:
            path = path.replace("X", base)
        out.append(f"{tree}/{path}" if absolute else path)
    return out


@promise("an input is never written over: every command, output, input, relation and flag")
def sacred(lab):
    tree = make_tree(lab)
    with Mounts(tree) as mounts:
        cells = Cells(lab, tree)
        for command, (_, outputs, roles) in COMMANDS.items():
            for role, may_be_folder in roles.items():
                file = FILES.get(role, "w/" + os.path.basename(USUAL[command]))
                for relation in OF_FILES + (OF_FOLDERS if may_be_folder else []):
                    place, path = paths_of(relation, tree, file)
                    if not mounts.made and {place.split("/")[0], path.split("/")[0]} & {*NEEDS_MOUNT}:
                        continue
                    for option, kind in outputs.items():
                        if kind not in relation[3].split():
                            continue
                        for flags in FLAGS:
                            # Other inputs lie in "." as well, and are named first.
                            words = [path] if place != "." or role == "INPUT" else []
                            cells.refused(command_line(command, role, path, option, place, flags),
                                          f"{option} {place}", *words)
    return f"{cells.n} cells{'' if mounts.made else ', no mounts'}"


@promise("the same commands with outputs apart succeed")
def apart(lab):
    tree = make_tree(lab)
    n = 0
    for command, (_, outputs, roles) in COMMANDS.items():
        for role, may_be_folder in roles.items():
            file = FILES.get(role, "w/" + os.path.basename(USUAL[command]))
            for path in [file, *(["c"] if may_be_folder else [])]:
                for option in outputs:
                    n += 1
                    line = command_line(command, role, path, option, f"new{n}", ())
                    done = subprocess.run([lab.neardup, *line], cwd=tree, capture_output=True, text=True)
                    expect(done.returncode == 0, f"{line}: exit {done.returncode}: {done.stderr}")
                    expect((tree / f"new{n}").exists(), f"{line}: nothing was written")
    return f"{n} runs"


@promise("two outputs in one another are refused")
def outputs_apart(lab):
    cells = Cells(lab, make_tree(lab))
    line = ["prevalence", "--run", "s/run", "--pairs", "s/pairs"]
    for first, second in (("new", "new"), ("new", "./new/"), ("new/in", "new"), ("new", "new/in"),
                          ("none/../new", "new/in"), ("w", "lw/new")):
        for flags in FLAGS:
            cells.refused([*line, "-o", first, "--filter-runs", second, *flags], first, second)
    return f"{cells.n} cells"


@promise("mistakes that once destroyed data: refused, and nothing changes")
def shown(lab):
    tree = make_tree(lab)
    (tree / "in.jsonl").write_text(DOCUMENTS)
    cells = Cells(lab, tree)
    cells.refused(["dedup", "done/kept", "-o", "done", "--resume", "never"], "done/kept", "-o done")
    cells.refused(["dedup", "in.jsonl", "-o", "done", "--against", "done/kept", "--resume", "never"],
                  "--against done/kept", "-o done")
    cells.refused(["explain", "0", "3", "in.jsonl", "-o", "in.jsonl"], "in.jsonl")
    cells.refused(["plan", "--precision", "0.9", "in.jsonl", "-o", "in.jsonl", "--force"], "in.jsonl")
    cells.refused(["sketch", "in.jsonl", "-o", "in.jsonl", "--force"], "in.jsonl")
    with open(tree / "in.jsonl") as f:
        cells.refused(["sketch", "-", "-o", "in.jsonl", "--force"], "in.jsonl", stdin=f)
    for flags in FLAGS:  # a mistyped id
        cells.refused(["explain", "0", "33", "in.jsonl", "-o", "page.html", *flags],
                      "33" if "--force" in flags else "page.html")
    return f"{cells.n} cells"


@promise("standard input never matches a finished result")
def piped(lab):
    cells = Cells(lab, make_tree(lab))
    for text in (DOCUMENTS, ""):
        cells.refused(["dedup", "-", "-o", "done"], "done", "--resume never", input=text)
    return f"{cells.n} cells"


@promise("tables of studies: a directory is replaced only when that was asked for, and as a whole")
def directories(lab):
    tree = make_tree(lab)
    run = [lab.neardup, "study", "sources", "s/in.jsonl", "-o", "study"]
    expect(subprocess.run(run, cwd=tree, capture_output=True).returncode == 0, "no study")
    shutil.copytree(tree / "study", tree / "begun")
    (tree / "begun/.neardup").mkdir(mode=0o700)
    (tree / "begun/.neardup/manifest").write_text("of a dedup")
    (tree / "begun/summary.json").unlink()
    cells = Cells(lab, tree)
    study = ["study", "sources", "s/in.jsonl"]
    prevalence = ["prevalence", "--run", "s/run", "--pairs", "s/pairs"]
    for command, option in ((study, "-o"), (prevalence, "-o"), (prevalence, "--filter-runs")):
        for place, word in (("study", "--resume never"), ("done", "--resume never"), ("c", "--force")):
            cells.refused([*command, option, place], place, word)
        cells.refused([*command, option, "study", "--force"], "study", "--resume never")
        cells.refused([*command, option, "c", "--resume", "never"], "c is not empty")
        cells.refused([*command, option, "page.html", "--force"], "page.html")
    cells.refused(["study", "sources", "missing", "-o", "study", "--resume", "never"], "missing")
    cells.refused(["prevalence", "--run", "s/run", "--pairs", "missing", "-o", "study", "--resume", "never"],
                  "missing")
    done = cells.run([*study, "-o", "begun"])
    expect(done.returncode == 1 and "interrupted" in done.stderr, done.stderr)
    expect((tree / "begun/.neardup/manifest").exists(), "an interrupted dedup was thrown away")
    for more in (["--resume", "never"], ["--resume", "never", "--sync", "no"]):
        done = cells.run([*prevalence, "-o", "study", *more])
        expect(done.returncode == 0, done.stderr)
        names = {p.name for p in (tree / "study").iterdir()}
        expect("topics.tsv" in names and "sources.tsv" not in names and ".neardup" not in names, names)
    (tree / "c/mine").write_text("mine")
    done = cells.run([*study, "-o", "c", "--force"])
    expect(done.returncode == 0 and (tree / "c/mine").read_text() == "mine", done.stderr)
    return f"{cells.n} cells"


@promise("a failure, or Ctrl-C, leaves the file that was there, and nothing beside it")
def failures(lab):
    tree = make_tree(lab)
    (tree / "ours.html").write_text("")
    (tree / "ours.plan").write_text(PLAN)
    (tree / "bad.jsonl").write_text("{\n")
    run = subprocess.run([lab.neardup, "explain", "0", "1", "s/in.jsonl", "-o", "ours.html"], cwd=tree)
    expect(run.returncode == 0, "an empty file was not replaced")
    cells = Cells(lab, tree)
    again = ["--resume", "never"]
    cells.refused(["explain", "0", "1", "s/in.jsonl", "-o", "ours.html"], "ours.html", "--resume never")
    cells.refused(["explain", "0", "1", "s/in.jsonl", "-o", "page.html", *again], "page.html", "--force")
    cells.refused(["explain", "0", "nobody", "s/in.jsonl", "-o", "ours.html", *again], "nobody")
    cells.refused(["explain", "0", "1", "missing", "-o", "ours.html", *again], "missing")
    cells.refused(["plan", "--precision", "0.9", "missing", "-o", "ours.plan", *again], "missing")
    cells.refused(["plan", "--precision", "0.9", "s/in.jsonl", "-o", "ours.plan"], "--resume never")
    cells.refused(["sketch", "missing", "-o", "w/one.nds", *again], "missing")
    cells.refused(["sketch", "s/in.jsonl", "-o", "w/one.nds"], "--resume never")
    cells.refused(["sketch", "s/in.jsonl", "-o", "page.html", *again], "--force")
    cells.refused(["merge", "s/one.nds", "page.html", "-o", "w/one.nds", *again], "page.html")
    cells.refused(["merge", "s/one.nds", "s/other.nds", "-o", "c", "--force"], "c is a directory")
    for place in ("new.nds", "w/one.nds"):
        child = subprocess.Popen([lab.neardup, "sketch", "-", "-o", place, *again], cwd=tree,
                                 stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        child.stdin.write(DOCUMENTS.encode())
        child.stdin.flush()
        deadline = time.monotonic() + 10
        while not [p for p in (tree / place).parent.iterdir() if p.name.startswith(".neardup-")]:
            expect(time.monotonic() < deadline, "no work began")
            time.sleep(0.005)
        child.send_signal(signal.SIGINT)
        child.stdin.close()
        expect(child.wait(20) == 130, f"exit {child.returncode}")
        cells.n += 1
        cells.unchanged(f"Ctrl-C, {place}")
    return f"{cells.n} cells"
