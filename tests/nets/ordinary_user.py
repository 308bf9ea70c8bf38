"""An ordinary user, from whom permissions are kept: root would not notice."""

import os

from net_tools import NOBODY, digest, expect, expect_untouched, need_root, net, snapshot


@net("an output folder of another user is refused, untouched")
def output_of_another(lab):
    need_root()
    corpus = lab.jsonl(200)
    right = lab.undisturbed(corpus)
    for mode in (0o755, 0o700):
        out = lab.home(f"theirs-{mode:o}", 0, mode)
        before = snapshot(out)
        lab.refuse("dedup", corpus, "-o", out, user=NOBODY, says=[str(out), "Permission denied"])
        expect_untouched(before, out, "an empty folder of another user")
        os.chown(out, NOBODY, NOBODY)
        lab.finish("dedup", corpus, "-o", out, user=NOBODY, right=right, out=out)


@net("a result of another user is not replaced")
def result_of_another(lab):
    need_root()
    corpus, out = lab.jsonl(200), lab / "out"
    right = lab.undisturbed(corpus)
    lab.finish("dedup", corpus, "-o", out, right=right, out=out)
    before = snapshot(out)
    for options in ([], ["--resume", "never"], ["--threshold", "0.9"], ["--force"],
                    ["--force", "--resume", "never"], ["--tmp", lab.home("tmp", NOBODY)]):
        run = lab.run("dedup", corpus, "-o", out, *options, user=NOBODY)
        # A complete result may be called that by all who can read it.
        complete = run.status == 0 and "complete" in run.err + run.out
        expect(complete or (run.status == 1 and "neardup: " in run.err), f"{run}")
        lab.failures += run.status == 1
        expect_untouched(before, out, f"the result of another user, {options}")
    for path in [out, *out.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    lab.finish("dedup", corpus, "-o", out, "--resume", "never", user=NOBODY, right=right, out=out)


@net("a folder that may not be written or searched")
def closed_folders(lab):
    need_root()
    corpus = lab.jsonl(200)
    right = lab.undisturbed(corpus)
    for mode in (0o555, 0o666, 0o444, 0o000):
        out = lab.home(f"closed-{mode:o}", NOBODY, mode)
        for below in (out, out / "new"):
            lab.refuse("dedup", corpus, "-o", below, user=NOBODY, says=["closed-", "Permission denied"])
        expect(out.stat().st_mode & 0o777 == mode, f"the mode of {out} was changed")
        out.chmod(0o700)
        lab.finish("dedup", corpus, "-o", out, user=NOBODY, right=right, out=out)
    # A file where --tmp should be, a folder that is closed, one of another user.
    (lab / "file").write_text("a file")
    closed, theirs = lab.home("ro", NOBODY, 0o555), lab.home("root", 0, 0o700)
    home = lab.home("home", NOBODY)
    for tmp in (closed, theirs, theirs / "x", lab / "file"):
        for command in (["dedup", corpus, "-o", home / "out"], ["pairs", corpus]):
            lab.refuse(*command, "--tmp", tmp, user=NOBODY, says=[str(tmp)])
    expect((lab / "file").read_text() == "a file", "the file was changed")
    lab.finish("dedup", corpus, "-o", home / "out", "--tmp", home, user=NOBODY, right=right,
               out=home / "out")


@net("input that may not be read is counted, and the rest is done")
def unreadable_input(lab):
    need_root()
    corpus = lab.text_files(100)
    right = lab.undisturbed(corpus)
    (corpus / "sub").mkdir()
    (corpus / "sub/hidden.txt").write_text("nobody may see this one document here at all\n")
    home = lab.home("home", NOBODY)
    (corpus / "000000.txt").chmod(0)
    (corpus / "sub").chmod(0)
    out = home / "out"
    run = lab.refuse("dedup", corpus, "-o", out, user=NOBODY, status=3, says=["rejected  2"])
    rejected = (out / "rejected.tsv").read_text()
    for name in ("000000.txt", "sub"):
        expect(f"{name}" in rejected and "Permission denied" in rejected, rejected)
    expect((out / "kept/000001.txt").exists(), f"the rest is not kept: {run}")
    expect(not (out / "kept/000000.txt").exists(), "kept what cannot be read")
    lab.refuse("pairs", corpus / "000000.txt", "--tmp", home, user=NOBODY, status=3, says=["rejected"])
    before = snapshot(out)
    # The input was repaired: the result of the other input stays until told.
    (corpus / "000000.txt").chmod(0o644)
    (corpus / "sub").chmod(0o755)
    (corpus / "sub/hidden.txt").unlink()
    (corpus / "sub").rmdir()
    lab.refuse("dedup", corpus, "-o", out, user=NOBODY, status=3, says=["--resume never"])
    expect_untouched(before, out, "the result of another input")
    lab.finish("dedup", corpus, "-o", out, "--resume", "never", user=NOBODY, right=right, out=out)


def interrupted(lab, corpus, out, *options, user=None):
    """A run that has read everything and could not write the kept documents."""
    run = lab.run("dedup", corpus, "-o", out, *options, user=user,
                  file_size=corpus.stat().st_size // 2)
    expect(run.status == 1 and (out / ".neardup/manifest").exists(), f"was not interrupted: {run}")


@net("unreadable parts of an interrupted run")
def unreadable_parts(lab):
    need_root()
    corpus, home = lab.jsonl(2000), lab.home("home", NOBODY)
    right = lab.undisturbed(corpus)
    out = home / "out"
    interrupted(lab, corpus, out, user=NOBODY)
    parts = [p for p in [out / ".neardup", *sorted((out / ".neardup").rglob("*"))]]
    tried = 0
    for part in parts:
        for theirs in (False, True):  # closed; and of another user besides
            if not part.exists():
                interrupted(lab, corpus, out, user=NOBODY)
            if not part.exists():
                continue
            mode = part.stat().st_mode & 0o777
            bytes_before = part.read_bytes() if part.is_file() else None
            part.chmod(0)
            if theirs:
                os.chown(part, 0, 0)
            run = lab.run("dedup", corpus, "-o", out, user=NOBODY)
            tried += 1
            if run.status == 0:  # it was not needed, and made anew
                expect(digest(out) == right, f"other bytes: {run}")
                lab.finished += 1
                continue
            lab.failures += 1
            expect(run.status == 1 and "neardup: " in run.err, f"{part}: {run}")
            if bytes_before is not None and part.exists():
                expect(part.read_bytes() == bytes_before, f"{part} was changed: {run}")
            if part.exists():
                part.chmod(mode)
                os.chown(part, NOBODY, NOBODY)
            lab.finish("dedup", corpus, "-o", out, user=NOBODY, right=right, out=out)
            for path in (out / "summary.json",):
                path.unlink()
            for path in sorted(out.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
            out.rmdir()
            interrupted(lab, corpus, out, user=NOBODY)
    return f"{tried} parts"


