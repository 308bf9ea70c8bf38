"""What the nets share: a folder per net, users, mounts, runs of the command, digests.

A net is a function that takes a Lab and raises Broken; run.py collects those
that @net marks.
"""

import hashlib
import json
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NETS = []  # (title, function)
NOBODY, ATTACKER = 65534, 65533


class Broken(Exception):
    pass


class Skipped(Exception):
    pass


def net(title):
    def mark(function):
        NETS.append((title, function))
        return function
    return mark


def expect(truth, complaint):
    if not truth:
        raise Broken(complaint)


def need_root():
    if os.geteuid() != 0:
        raise Skipped("needs root")


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skipped(f"{program} is not installed")


def tool(*command, skip=None):
    """Runs a tool of the system; `skip`: why a machine may not be able to."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode and skip:
        raise Skipped(f"{skip}: {done.stderr.strip().splitlines()[-1:]}")
    expect(done.returncode == 0, f"{command}: {done.stderr}")
    return done.stdout


def digest(out):
    """SHA-256 of a result: names and bytes of kept/, and the lists."""
    out = Path(out)
    sha = hashlib.sha256()
    lists = [out / "pairs.tsv", out / "clusters.tsv", out / "rejected.tsv"]
    for path in sorted(p for p in (out / "kept").rglob("*") if p.is_file()) + lists:
        data = path.read_bytes()
        sha.update(f"{path.relative_to(out)}\0{len(data)}\0".encode("utf-8", "surrogateescape"))
        sha.update(data)
    return sha.hexdigest()


def snapshot(folder):
    """Everything in a folder: names, kinds, owners, permissions, times, bytes."""
    seen = {}
    for path in [Path(folder), *sorted(Path(folder).rglob("*"))]:
        s = path.lstat()
        what = os.readlink(path) if path.is_symlink() else ""
        if stat.S_ISREG(s.st_mode):
            what = hashlib.sha256(path.read_bytes()).hexdigest()
        # The time of a folder changes when a lock file comes and goes.
        when = 0 if stat.S_ISDIR(s.st_mode) else s.st_mtime_ns
        seen[str(path)] = (s.st_mode, s.st_uid, when, what)
    return seen


def expect_untouched(before, folder, why):
    now = snapshot(folder)
    changed = [p for p in sorted({*before, *now}) if before.get(p) != now.get(p)]
    expect(not changed, f"{why}: changed {changed[:5]}")


def summary(out):
    return json.loads((Path(out) / "summary.json").read_text())


class Run:
    def __init__(self, command, status, out, err):
        self.command, self.status, self.out, self.err = command, status, out, err

    def __str__(self):
        return f"{' '.join(map(str, self.command))[:600]}\nexit {self.status}\n{self.err[-2000:]}"


class Lab:
    def __init__(self, folder, neardup, quick):
        self.top, self.quick = Path(folder), quick
        self.runs = self.failures = self.finished = 0
        self.mounts = []
        os.chmod(self.top, 0o755)
        # Other users cannot look into the build folder, perhaps.
        (self.top / "bin").mkdir()
        self.neardup = self.top / "bin/neardup"
        shutil.copy(neardup, self.neardup)
        for library in neardup.parent.glob("libneardup.so*"):
            if library.is_file():
                shutil.copy(library, self.top / "bin" / library.name)

    def begin(self, number):
        self.folder = self.top / f"net-{number}"
        self.folder.mkdir()
        self.random = random.Random(number)

    def clean_up(self):
        while self.mounts:
            subprocess.run(["umount", "-l", self.mounts.pop()], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __truediv__(self, name):
        return self.folder / name

    def home(self, name, user, mode=0o755):
        """A folder of a user."""
        path = self / name
        path.mkdir()
        os.chown(path, user, user)
        path.chmod(mode)
        return path

    def mount(self, *options, at):
        """Mounts; `options` end with what is mounted."""
        need_root()
        Path(at).mkdir(exist_ok=True)
        tool("mount", *options, at, skip="cannot be mounted here")
        self.mounts.append(str(at))
        return Path(at)

    def image(self, size, maker, *options, at, mount="loop"):
        """A file system of its own in a file."""
        need_root()
        need(maker)
        path = self / f"{Path(at).name}.img"
        with open(path, "wb") as f:
            f.truncate(size)
        tool(maker, *options, path, skip=f"{maker} cannot do that")
        return self.mount("-o", mount, path, at=at)

    def documents(self, n, words=40):
        """Texts, every fifth like the one before it but for a word."""
        texts = []
        for i in range(n):
            if i % 5 == 4:
                changed = texts[-1].split()
                changed[-1] = f"new{i}"
            else:
                changed = [f"w{self.random.randrange(10 ** 6)}" for _ in range(words)]
            texts.append(" ".join(changed))
        return texts

    def jsonl(self, n, words=40, name="in.jsonl"):
        path = self / name
        with open(path, "w") as f:
            for i, text in enumerate(self.documents(n, words)):
                f.write(json.dumps({"id": f"document {i}", "text": text}) + "\n")
        return path

    def text_files(self, n, words=40, name="in"):
        folder = self / name
        folder.mkdir()
        for i, text in enumerate(self.documents(n, words)):
            (folder / f"{i:06}.txt").write_text(text + "\n")
        return folder

    def run(self, *arguments, user=None, env=None, cwd=None, timeout=120, file_size=None,
            before=None, stdin=None):
        def prepare():
            if before:
                before()
            if file_size:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
        command = [self.neardup, *arguments]
        who = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        self.runs += 1
        process = subprocess.Popen(
            [str(c) for c in command], cwd=cwd or self.folder, preexec_fn=prepare,
            env={**os.environ, "LC_ALL": "C.UTF-8", "TMPDIR": str(self.folder), **(env or {})},
            stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **who)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Broken(f"stopped after {timeout} s: {' '.join(map(str, command))[:600]}") from None
        return Run(command, process.returncode, out.decode("utf-8", "replace"),
                   err.decode("utf-8", "replace"))

    def refuse(self, *arguments, status=1, says=(), **how):
        """The run must fail and say why."""
        run = self.run(*arguments, **how)
        self.failures += 1
        expect(run.status == status, f"exit {status} was expected: {run}")
        expect(any(w in run.err for w in ("neardup: ", "rejected")), f"says nothing: {run}")
        for words in (says,) if isinstance(says, str) else says:
            expect(any(w in run.err for w in words.split("|")), f"does not say “{words}”: {run}")
        return run

    def finish(self, *arguments, right, out, status=0, **how):
        """The run must give the bytes of an undisturbed one."""
        run = self.run(*arguments, **how)
        expect(run.status == status, f"exit {status} was expected: {run}")
        expect(digest(out) == right, f"other bytes than those of an undisturbed run: {run}")
        expect(not (Path(out) / ".neardup").exists(), f"{out} is not complete: {run}")
        self.finished += 1
        return run

    def undisturbed(self, *arguments, status=0, **how):
        """The digest of a run that nothing happens to."""
        out = self / "undisturbed"
        run = self.run("dedup", *arguments, "-o", out, **how)
        expect(run.status == status, f"the undisturbed run: {run}")
        found = digest(out)
        shutil.rmtree(out)
        return found
