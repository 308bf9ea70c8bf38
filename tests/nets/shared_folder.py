"""A folder like /tmp, where somebody else was first.

The attacker may write into the shared folder and knows every name that a run
takes there.  Nothing of the user may change but the output that was named, and
nothing may wait for the attacker.
"""

import os

from net_tools import ATTACKER, NOBODY, expect, expect_untouched, need_root, net, snapshot


def own(user, *paths):
    for path in paths:
        os.chown(path, user, user, follow_symlinks=False)


def precious(lab):
    """What the user has and does not want to lose."""
    home = lab.home("precious", NOBODY)
    for name in ("file", "manifest", "lock", "stdin", "summary.json", "pairs.tsv"):
        (home / name).write_text(f"precious {name}\n")
        own(NOBODY, home / name)
    (home / "kept").mkdir()
    (home / "kept/in.jsonl").write_text("precious documents\n")
    own(NOBODY, home / "kept", home / "kept/in.jsonl")
    return home


def names_taken(lab, shared, corpus, home):
    """The names that interrupted runs leave in a shared folder."""
    names = set()
    for command in (["dedup", corpus, "-o", home / "out"], ["pairs", corpus]):
        run = lab.run(*command, "--tmp", shared, user=NOBODY, file_size=60000)
        expect(run.status == 1, f"was not interrupted: {run}")
        names |= {str(p.relative_to(shared)) for p in shared.rglob("*")}
    return sorted(names)


TRAPS = {
    "a link to a folder": lambda p, safe: p.symlink_to(safe),
    "a link to a file": lambda p, safe: p.symlink_to(safe / "file"),
    "a link to nothing": lambda p, safe: p.symlink_to(safe / "new"),
    "a FIFO": lambda p, safe: os.mkfifo(p, 0o777),
    "a file": lambda p, safe: p.write_text("theirs"),
}


@net("--tmp in a shared folder: names that an attacker took before")
def taken_names(lab):
    need_root()
    corpus, home, safe = lab.jsonl(2000), lab.home("home", NOBODY), precious(lab)
    right = lab.undisturbed(corpus)
    probe = lab.home("probe", 0, 0o1777)
    names = names_taken(lab, probe, corpus, home)
    tops = [n for n in names if "/" not in n]
    before = snapshot(safe)
    tried = 0
    for turn, (what, trap) in enumerate([*TRAPS.items(), ("a folder full of traps", None)]):
        shared = lab.home(f"shared-{turn}", 0, 0o1777)
        for top in tops:
            if trap:
                trap(shared / top, safe)
                own(ATTACKER, shared / top)
                continue
            (shared / top).mkdir()
            (shared / top).chmod(0o777)
            own(ATTACKER, shared / top)
            inner = {n.split("/")[1] for n in names if "/" in n} | {"manifest", "lock", "stdin", "out"}
            for name in inner:
                target = "kept" if name == "out" else "file"
                (shared / top / name).symlink_to(safe / target)
                own(ATTACKER, shared / top / name)
        theirs = snapshot(shared)
        for command in (["dedup", corpus, "-o", home / "out"], ["pairs", corpus]):
            run = lab.run(*command, "--tmp", shared, user=NOBODY, timeout=30)
            tried += 1
            expect(run.status in (0, 1), f"{what}: {run}")
            expect(run.status == 0 or "neardup: " in run.err, f"{what}: {run}")
            expect_untouched(before, safe, f"{what} at {tops}: {run}")
            lab.failures += run.status == 1
            expect(all(p.lstat().st_uid != NOBODY for p in shared.rglob("*")) or run.status == 1,
                   f"{what}: left {[str(p) for p in shared.rglob('*')]}")
        expect_untouched({p: s for p, s in theirs.items()}, shared, f"{what}: a name of the attacker")
        own_tmp = lab.home(f"own-{turn}", NOBODY)
        lab.finish("dedup", corpus, "-o", home / "out", "--tmp", own_tmp, "--resume", "never",
                   user=NOBODY, right=right, out=home / "out")
    return f"{tried} runs on {len(tops)} names"


@net("--tmp in a shared folder is closed to others while the run lasts")
def private_work(lab):
    need_root()
    corpus, home = lab.jsonl(2000), lab.home("home", NOBODY)
    shared = lab.home("shared", 0, 0o1777)
    run = lab.run("dedup", corpus, "-o", home / "out", "--tmp", shared, user=NOBODY, file_size=60000)
    expect(run.status == 1, f"was not interrupted: {run}")
    work = [p for p in shared.iterdir()]
    for path in work:
        mode = path.stat().st_mode & 0o777
        expect(path.is_dir() and mode == 0o700, f"{path} has the mode {mode:o}, and holds texts")
    right = lab.undisturbed(corpus)
    lab.finish("dedup", corpus, "-o", home / "out", "--tmp", shared, user=NOBODY, right=right,
               out=home / "out")
    expect(not list(shared.iterdir()), f"left behind: {list(shared.iterdir())}")
    return f"{len(work)} work folders"


@net("an output folder that an attacker made and filled with traps")
def trapped_output(lab):
    need_root()
    corpus, safe = lab.jsonl(400), precious(lab)
    before, tried = snapshot(safe), 0
    shared = lab.home("shared", 0, 0o1777)
    hidden = ["lock", "turn", "manifest", "stdin", "out", "result", "old", "tmp", "work", "blocks-0"]
    visible = ["kept", "pairs.tsv", "clusters.tsv", "rejected.tsv", "report.html", "summary.json"]
    places = [".neardup", *[f".neardup/{n}" for n in hidden],
              *[f".neardup/{d}/{n}" for d in ("out", "result", "old") for n in ("kept", "summary.json")],
              *visible]
    summary = '{"neardup": "0.1.0", "files": [{"name": "../precious/file", "bytes": 14}]}\n'
    if lab.quick:
        places = lab.random.sample(places, 10)
    for place in places:
        for what, trap in TRAPS.items():
            for options in ([], ["--resume", "never", "--force"]):
                tried += 1
                out = shared / f"out-{tried}"
                (out / place).parent.mkdir(parents=True)
                trap(out / place, safe)
                if not place.startswith(".neardup") and place != "summary.json":
                    (out / "summary.json").write_text(summary)
                for path in (out, *out.rglob("*")):
                    own(ATTACKER, path)
                    if path.is_dir() and not path.is_symlink():
                        path.chmod(0o777)
                run = lab.run("dedup", corpus, "-o", out, *options, user=NOBODY, timeout=30)
                expect(run.status in (0, 1), f"{what} at {place}: {run}")
                expect(run.status == 0 or "neardup: " in run.err, f"{what} at {place}: {run}")
                lab.failures += run.status == 1
                expect_untouched(before, safe, f"{what} at {place} with {options}: {run}")
    return f"{tried} traps"


@net("standard input and pages go through no link of an attacker")
def other_outputs(lab):
    need_root()
    corpus, safe = lab.jsonl(50), precious(lab)
    before = snapshot(safe)
    shared = lab.home("shared", 0, 0o1777)
    for name in ("sketches.nds", "plan.tsv", "page.html"):
        (shared / name).symlink_to(safe / "file")
        own(ATTACKER, shared / name)
    commands = (["sketch", corpus, "-o", shared / "sketches.nds"],
                ["plan", corpus, "-o", shared / "plan.tsv"],
                ["explain", "document 3", "document 4", corpus, "-o", shared / "page.html"])
    for command in commands:
        run = lab.run(*command, user=NOBODY, timeout=30)
        expect(run.status in (0, 1, 2), f"{run}")
        expect_untouched(before, safe, f"{run}")
        lab.failures += run.status != 0
    return f"{len(commands)} commands"
