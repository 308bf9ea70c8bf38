"""Paths at and beyond the longest that the system takes."""

import os
import shutil

from net_tools import digest, expect, net

LONGEST = os.pathconf("/", "PC_PATH_MAX") - 1  # a terminating zero counts


def nested(lab, name, length, text):
    """A file in `name` whose path from lab.folder has `length` bytes, in parts of 255 or less."""
    left = length - len(name) - 1
    parts = []
    while left > 0:
        n = min(left, 255)
        if left - n == 1:  # no room for a slash and a part
            n -= 1
        parts.append(chr(ord("a") + len(parts) % 26) * n)
        left -= n + 1
    place = os.open(lab.folder, os.O_RDONLY | os.O_DIRECTORY)
    for part in [name, *parts[:-1]]:
        try:
            os.mkdir(part, dir_fd=place)
        except FileExistsError:
            pass
        deeper = os.open(part, os.O_RDONLY | os.O_DIRECTORY, dir_fd=place)
        os.close(place)
        place = deeper
    f = os.open(parts[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=place)
    os.write(f, text.encode())
    os.close(f)
    os.close(place)
    path = "/".join([name, *parts])
    expect(len(path) == length, f"{len(path)} is not {length}")
    return path


@net("paths of 4,095 bytes and one more, read")
def long_input(lab):
    done = 0
    for length in (255, 1024, LONGEST - 1, LONGEST, LONGEST + 1, LONGEST + 300):
        name = f"in-{length}"
        path = nested(lab, name, length, "some words that are read from a very deep folder\n")
        fits = length <= LONGEST
        run = lab.run("inspect", name)
        expect(run.status == (0 if fits else 3), f"{length}: {run}")
        lab.failures += not fits
        expect(("too long" in run.out + run.err) == (not fits), f"{length}: {run}")
        run = lab.run("pairs", name, "--threshold", "0.5")
        expect(run.status == (0 if fits else 3), f"{length}: {run}")
        if fits:  # as an argument
            run = lab.run("inspect", path)
            expect(run.status == 0 and path in run.out, f"{length}: {run}")
        else:
            lab.refuse("inspect", path, status=1, says="File name too long")
        done += 1
    return f"{done} lengths"


@net("ids of 4,095 bytes: in tables, explanations, and back")
def long_ids(lab):
    text = "the same words stand in both of these files, which lie very deep in the tree\n"
    first = nested(lab, "x", LONGEST, text)
    second = nested(lab, "y", LONGEST, text)
    run = lab.run("pairs", "x", "y")
    expect(run.status == 0 and f"{first}\t{second}" in run.out, f"{run}")
    run = lab.run("explain", first, second, "x", "y")
    expect(run.status == 0, f"{run}")


@net("output below a long path, and kept paths beyond the longest")
def long_output(lab):
    corpus = lab / "corpus"
    corpus.mkdir()
    for i, text in enumerate(lab.documents(20)):
        (corpus / f"{i}.txt").write_text(text)
    right = lab.undisturbed("corpus")
    fitted = refused = 0
    # The output's own path: from short to one that leaves no room at all.
    lengths = [LONGEST - n for n in (300, 200, 100, 80, 60, 50, 40, 38, 36, 34, 32, 30, 28, 26, 24, 22,
                                     20, 18, 16, 14, 12, 10, 8, 4, 1, 0, -1)]
    for length in lengths[::3] if lab.quick else lengths:
        out = nested(lab, f"o{length}", length, "")
        place = lab.folder
        run = lab.run("dedup", "corpus", "-o", out + "x" if length > LONGEST else out)
        expect(run.status == 1, f"a file is no folder: {run}")
        # The file goes; its name becomes the folder's.
        parts = out.split("/")
        here = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
        for part in parts[:-1]:
            deeper = os.open(part, os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = deeper
        os.unlink(parts[-1], dir_fd=here)
        run = lab.run("dedup", "corpus", "-o", out)
        if run.status == 0:
            os.rename(parts[-1], lab / "found", src_dir_fd=here)
            expect(digest(lab / "found") == right, f"{length}: {run}")
            shutil.rmtree(lab / "found")
            fitted += 1
        else:
            expect(run.status in (1, 2) and "too long" in run.err, f"{length}: {run}")
            left = os.listdir(here)
            expect(not left, f"{length}: {left} is left behind: {run}")
            refused += 1
        os.close(here)
    lab.finished += fitted
    lab.failures += refused
    expect(fitted and refused, f"{fitted} fitted, {refused} were refused")
    return f"{fitted} fitted, {refused} were refused"


@net("kept paths that are too long are refused before anything is read")
def long_kept(lab):
    text = "a text of some words that nobody has written before in this folder\n"
    for room in (1, 10, 30, 60):
        name = f"in{room}"
        nested(lab, name, LONGEST - room, text)
        (lab / name / "short.txt").write_text("another text that has nothing in common with that\n")
        out = f"out-{room}-" + "o" * 200
        run = lab.run("dedup", name, "-o", out)
        expect(run.status in (1, 2) and "too long" in run.err, f"{run}")
        expect("-o" in run.err or "output" in run.err, f"does not say what to do: {run}")
        expect(not (lab / out).exists(), f"{out} was written: {run}")
        lab.failures += 1
        # A shorter place, from where the input's path is shorter too.
        inner = os.path.join(lab.folder, name, "a" * 255)
        run = lab.run("dedup", ".", "-o", lab.folder / "o", cwd=inner)
        expect(run.status == 0, f"{run}")
        shutil.rmtree(lab / "o")
        lab.finished += 1
