"""One command on a disk of its own: the undisturbed run, the moments of its cuts, and
what is found after each."""

import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import disk as disks
import judge
from judge import Broken

WAITS = (0, 0.1, 0.5, 1, 3, 7)
MOUNTS = ("commit=1", "commit=1", "commit=5", "nodelalloc", "data=writeback", "noauto_da_alloc")
NOISES = ("none", "journal", "data", "data, journal", "journal, data", "journal, data, journal")
LIMIT = 300
STOP = threading.Event()  # a signal came: end what runs, unmount, go


class Moment:
    """When the power is cut, what the disk had got by then, and what becomes of the process."""

    def __init__(self, rng, kind, step=0, call=0, name="", at=0.0):
        self.kind, self.step, self.call, self.name, self.at = kind, step, call, name, at
        self.mount, self.noise = rng.choice(MOUNTS), rng.choice(NOISES)
        self.restless = kind == "time" and rng.random() < 0.5  # the journal commits all the time
        self.kill = rng.random() < 0.5
        self.twice = rng.random() if rng.random() < 0.3 else None  # the rerun is cut too, there
        self.seed = rng.random()

    def __str__(self):
        when = {"call": f"before call {self.call} of command {self.step + 1} ({self.name})",
                "again": "", "time": f"after {self.at:.3f} s", "after": f"{self.at} s after the end"}[self.kind]
        then = "" if self.kind == "after" else ", killed" if self.kill else ", left running"
        busy = ", with commits all the time" if self.restless else ""
        again = ", and while it was run again" if self.twice is not None else ""
        return f"{when}{then}, mounted with {self.mount}, before it: {self.noise}{busy}{again}"


def moments_of(rng, n, steps, seconds):
    """n moments, given the calls of an undisturbed run of each command and its seconds."""
    after = max(1, n * 6 // 25)
    calls = [(s, i + 1, name) for s, names in enumerate(steps) for i, name in enumerate(names)]
    timed = max(1, (n - after) // 3) if calls else n - after
    # Renames, removals and syncs matter more than one more write.
    steps_only = [c for c in calls if not c[2].startswith(("write", "pwrite"))]
    late = steps_only[-40:]
    chosen, wanted = set(), max(0, n - after - timed)
    for pool, share in ((late, 0.5), (steps_only, 0.3), (calls, 1.0)):
        fresh = [c for c in pool if c not in chosen]
        more = max(0, wanted - len(chosen))
        chosen |= set(rng.sample(fresh, min(len(fresh), round(more * share) or 1)))
    chosen = rng.sample(sorted(chosen), min(len(chosen), wanted))
    timed += wanted - len(chosen)
    out = [Moment(rng, "call", *c) for c in sorted(chosen)]
    for i in range(timed):
        share = rng.uniform(0.9, 1.02) if i % 2 else rng.uniform(0, 0.9)
        out.append(Moment(rng, "time", at=share * seconds))
    out += [Moment(rng, "after", at=WAITS[i * len(WAITS) // max(after, len(WAITS))
                                          if after >= len(WAITS) else i * (len(WAITS) - 1) // after])
            for i in range(after)]
    return out


class Bench:
    """A row with a disk of its own: its undisturbed run, and its moments."""

    def __init__(self, row, folder, inputs, shim, seed):
        self.row, self.folder, self.inputs, self.shim, self.seed = row, Path(folder), inputs, shim, seed
        self.disk = disks.Disk(self.folder / "now")
        self.template = disks.Disk(self.folder / "template")
        self.log, self.said = self.folder / "calls", self.folder / "said"
        self.child = None

    # Running

    def words(self, step):
        return [w.replace("{fs}", str(self.disk.root)).replace("{in}", str(self.inputs)) for w in step]

    def start(self, step, call=None):
        """Starts a command; `call` counts its calls, and stops it before that one (0: none)."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("NEARDUP_C", "NEARDUP_POWER"))}
        env["TMPDIR"] = str(self.folder)
        if call is not None and self.row.preload:
            self.log.unlink(missing_ok=True)
            env.update(NEARDUP_CUT_ROOT=str(self.disk.root), NEARDUP_CUT_LOG=str(self.log),
                       NEARDUP_CUT_AT=str(call), LD_PRELOAD=str(self.shim))
        with open(self.said, "wb") as said:
            self.child = subprocess.Popen(self.words(step), env=env, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.DEVNULL, stderr=said, cwd=self.folder,
                                          start_new_session=True)
        return self.child

    def message(self):
        return self.said.read_text("utf-8", "replace").strip()

    def stop(self):
        """Ends what is left of the command that runs, with the children it started."""
        if self.child:
            try:
                os.killpg(self.child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.child.wait()
            self.child = None

    def finish(self, step):
        """Runs a command to its end; its exit status."""
        child = self.start(step)
        try:
            return child.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise Broken(f"still running after {LIMIT} s: {' '.join(self.words(step))}") from None
        finally:
            self.stop()

    def must(self, step):
        status = self.finish(step)
        if status not in (0, 3):
            raise Broken(f"exit status {status}: {self.message()}")

    # What is there

    def outputs(self):
        return [self.disk.root / name for name in self.row.folders + self.row.files]

    def contents(self):
        return {path.name: judge.content(path) for path in self.outputs()}

    def unlike(self, want):
        """How the outputs differ from what they should be; empty if they do not."""
        got = self.contents()
        return "; ".join(f"{n}: {d}" for n in want if (d := judge.difference(want[n], got[n])))

    def claims(self, path):
        return path.exists() if path.name in self.row.files else judge.is_complete(path)

    def check_clean(self):
        """After a rerun: nothing but the result, and sums that hold."""
        for path in self.outputs():
            if (path / judge.HIDDEN).exists():
                raise Broken(f"{path.name}/{judge.HIDDEN} was left behind")
            if path.name in self.row.folders and (wrong := judge.check_sums(path)):
                raise Broken(f"{path.name}: {wrong}")
        for name in self.row.scratch:
            if left := list((self.disk.root / name).iterdir()):
                raise Broken(f"{name} still holds {[p.name for p in left]}")

    def check_inputs(self):
        if self.row.inputs_inside:
            if judge.content(self.disk.root / "in") != self.input_content:
                raise Broken("an input was changed")

    # The undisturbed run

    def prepare(self):
        self.template.format()
        self.disk.copy_from(self.template)
        self.disk.mount()
        for name in self.row.scratch:
            (self.disk.root / name).mkdir()
        if self.row.inputs_inside:
            (self.disk.root / "in").mkdir()
            for name in ("docs.jsonl",):
                shutil.copy(self.inputs / name, self.disk.root / "in" / name)
            self.input_content = judge.content(self.disk.root / "in")
        for step in self.row.old:
            self.must(step)
        self.before = self.contents()
        self.disk.sync()
        self.disk.unmount()
        os.replace(self.disk.image, self.template.image)

        truths = []
        for _ in range(2):  # twice, so that what differs by itself is known at once
            self.disk.copy_from(self.template)
            self.disk.mount()
            begin, self.calls, self.ends = time.monotonic(), [], []
            for step in self.row.steps:
                status = self.start(step, 0).wait(LIMIT)
                self.stop()
                if status not in (0, 3):
                    raise Broken(f"undisturbed: exit status {status}: {self.message()}")
                self.ends.append(time.monotonic() - begin)
                self.calls.append([line.replace(str(self.disk.root) + "/", "") for line in
                                   self.log.read_text("utf-8", "replace").splitlines()]
                                  if self.row.preload else [])
            truths.append(self.contents())
            self.check_clean()
            self.disk.unmount()
        self.truth = truths[0]
        for name in self.truth:
            if said := judge.difference(self.truth[name], truths[1][name]):
                raise Broken(f"two undisturbed runs differ: {name}: {said}")

    def moments(self, n):
        n = min(n, self.row.most or n)
        return moments_of(random.Random(f"{self.seed} {self.row.title}"), n, self.calls, self.ends[-1])

    # A cut

    def busy(self, moment, enough):
        rng = random.Random(f"{moment.seed} busy")
        while not enough.wait(rng.uniform(0.002, 0.04)):
            self.disk.commit_journal() if rng.random() < 0.7 else self.disk.write_back(rng)

    def cut(self, moment):
        rng = random.Random(f"{moment.seed} noise")
        for word in moment.noise.split(", "):
            if word == "journal":
                self.disk.commit_journal()
            elif word == "data":
                self.disk.write_back(rng)
        self.disk.cut()

    def run_until(self, moment, first=0):
        """Runs the commands from `first` on until the cut: which was the last, and its status."""
        begin = time.monotonic()
        for number, step in list(enumerate(self.row.steps))[first:]:
            stop_here = moment.kind in ("call", "again") and moment.step == number
            child = self.start(step, moment.call if stop_here else 0)
            cut = False
            while True:
                got, state = os.waitpid(child.pid, os.WUNTRACED | os.WNOHANG)
                if got and os.WIFSTOPPED(state):
                    cut = True
                elif got:
                    child.returncode = os.waitstatus_to_exitcode(state)
                    break
                elif moment.kind == "time" and time.monotonic() - begin >= moment.at:
                    cut = True
                elif time.monotonic() - begin > LIMIT or STOP.is_set():
                    raise Broken(f"still running after {time.monotonic() - begin:.0f} s")
                if cut:
                    break
                time.sleep(0.0005)
            if cut:
                if moment.kind == "time":
                    os.kill(child.pid, signal.SIGSTOP)
                self.cut(moment)
                if moment.kill:
                    self.stop()
                    return number, None
                os.kill(child.pid, signal.SIGCONT)
                try:
                    status = child.wait(30 if self.row.preload else LIMIT)
                except subprocess.TimeoutExpired:
                    raise Broken("a command whose disk is gone does not end within 30 s") from None
                return number, status
            self.child = None
            if child.returncode not in (0, 3):
                if moment.kind == "again":  # the rerun was refused; whether that is right comes next
                    return number, child.returncode
                raise Broken(f"exit status {child.returncode} before the cut: {self.message()}")
        if moment.kind == "after":
            STOP.wait(moment.at)
        self.cut(moment)
        return len(self.row.steps) - 1, child.returncode

    def one(self, moment):
        """One cut and what follows; the word for what was found."""
        self.disk.copy_from(self.template)
        self.disk.mount(moment.mount)
        enough = threading.Event()
        helper = threading.Thread(target=self.busy, args=(moment, enough), daemon=True)
        try:
            if moment.restless:
                helper.start()
            try:
                number, status = self.run_until(moment)
            finally:
                enough.set()
                if moment.restless:
                    helper.join()
                self.stop()
            self.disk.unmount()
            self.disk.mount()
            self.seen = judge.listing(self.disk.root)
            self.status = status
            if moment.twice is not None and self.row.preload and number < len(self.row.steps):
                number, status = self.once_more(moment, number, status)
            return self.judge(number, status)
        finally:
            self.stop()
            self.disk.unmount()

    def once_more(self, moment, number, status):
        """Cuts the power during the rerun as well."""
        if status in (0, 3) and number == len(self.row.steps) - 1 and self.row.synced:
            return number, status  # nothing is left to run
        self.state()
        rng = random.Random(f"{moment.seed} again")
        again = Moment(rng, "again", number, 1 + int(moment.twice * len(self.calls[number])))
        try:
            number, status = self.run_until(again, number)
        finally:
            self.stop()
        self.disk.unmount()
        self.disk.mount()
        self.seen = ["(after the second cut)", *judge.listing(self.disk.root)]
        self.status = status
        return number, status

    # What was found

    def judge(self, number, status):
        row, last = self.row, len(self.row.steps) - 1
        promised = row.synced and status in (0, 3) and number == last
        self.check_inputs()
        state = self.state()
        if promised and (wrong := self.unlike(self.truth)):
            raise Broken(f"after exit status {status}: {wrong}")
        # What was there before must outlive what did not become complete.
        if row.old and row.synced and state == "resumed" and random.Random(str(self.seen)).random() < 0.5:
            self.plain_rerun()
        refused = self.rerun(row.steps[number:], state)
        self.check_clean()
        self.check_inputs()
        return "refused" if refused else state

    def state(self):
        """What the outputs are, as they lie there: complete, old, resumed (they say that they are
        not complete), none, or damaged (only with --sync no)."""
        states = set()
        for path in self.outputs():
            got, name = judge.content(path), path.name
            if self.claims(path):
                if not judge.difference(self.truth[name], got):
                    wrong = name in self.row.folders and judge.check_sums(path)
                    if wrong and self.row.synced:
                        raise Broken(f"{name} claims to be complete: {wrong}")
                    states.add("damaged" if wrong else "complete")
                elif self.row.old and not judge.difference(self.before[name], got):
                    states.add("old")
                elif not self.row.synced:
                    states.add("damaged")
                else:
                    raise Broken(f"{name} claims to be complete, but "
                                 + judge.difference(self.truth[name], got))
            elif self.row.old and name in self.row.files:
                raise Broken(f"the older {name} is gone")
            elif path.is_dir() and any(path.iterdir()):
                states.add("resumed")
            elif self.row.old:
                raise Broken(f"the older {name} is gone")
            else:
                states.add("none")
        order = ("damaged", "resumed", "none", "old", "complete")
        return next(s for s in order if s in states)

    def plain_rerun(self):
        """Without --resume never: the new result is finished, or the old one is still whole."""
        step = [w for w in self.row.steps[-1] if w not in ("--resume", "never")]
        status = self.finish(step)
        wrong = self.unlike(self.truth)
        if wrong and status not in (0, 3):  # refused, be it beside the old result or the new one
            wrong = self.unlike(self.before)
        if wrong:
            raise Broken(f"the command without --resume never ends with {status} "
                         f"({self.message()}), and {wrong}")

    def rerun(self, steps, state):
        """The same commands once more; true if they were refused and the remedy helped."""
        refused = False
        for step in steps:
            status = self.finish(step)
            if status in (0, 3):
                continue
            message = self.message()
            hidden = any((path / judge.HIDDEN).exists() for path in self.outputs())
            if not self.row.recognises and not hidden and not self.unlike(self.truth):
                return False  # refused, because a result is there
            self.remedy(message)
            refused = True
            break
        if wrong := self.unlike(self.truth):
            how = "after the remedy" if refused else f"the rerun said: {self.message()}"
            raise Broken(f"other bytes than undisturbed: {wrong}; {how}")
        return refused

    def remedy(self, message):
        for _ in range(8):  # each names the next file that is in the way
            named = re.match(r"neardup: (.*) is in the way .*move it away", message)
            if not named:
                break
            path = Path(named[1])
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            for step in self.row.steps:
                status = self.finish(step)
            if status in (0, 3):
                return
            message = self.message()
        if "--resume never" in message:
            steps = [s + ["--resume", "never"] for s in self.row.steps]
        elif "remove" in message:
            for path in self.outputs():
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            steps = self.row.steps
        elif "--force" in message:
            steps = [s + ["--force"] for s in self.row.steps]
        else:
            raise Broken(f"refused without a remedy: {message}")
        for step in steps:
            status = self.finish(step)
            if status not in (0, 3):
                raise Broken(f"the remedy of {message!r} ends with {status}: {self.message()}")
