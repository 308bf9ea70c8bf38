"""One driver at a time on a folder.

A local folder has a lock file: the system drops the lock with its process.  Other
stores have leases.  Every driver writes a file of its own, which asks, then lists the folder:
if there is another driver's, which still tells of itself, it takes its own back;
else its file says that it holds the folder.  So of two drivers that begin at once at least one sees the other, on every store
whose listings show what was written before (HDFS, S3, GCS, ABFS), whether or not
the store can create a file atomically.
"""
import fcntl
import json
import os
import random
import secrets
import socket
import threading
import time

from neardup.errors import StateError

LOCK = "lock"
PREFIX = "lease-"
BEAT = 15.0  # seconds between two signs of life
LAPSE = 120.0  # without one, by the store's clock, a lease has ended
TRIES = 3  # at a folder that two drivers want at once


def _start_time(pid):
    """When a process began, as Linux counts; None: there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            return int(f.read().rpartition(b")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return None


def boot_id():
    """The system's number of this start; "": unknown."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return ""


def myself():
    """The driver, so that others on the same machine can tell whether it lives."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    pid = os.getpid()
    return {"host": socket.gethostname(), "boot": boot_id(),
            "space": space, "pid": pid, "start": _start_time(pid)}


def is_dead(who):
    """Is the driver known to be dead?  Only one of this machine's can be known."""
    here = myself()
    if who.get("host") != here["host"] or not here["boot"] or not who.get("boot"):
        return False
    if who["boot"] != here["boot"]:
        return True  # the machine has restarted since
    if not here["space"] or who.get("space") != here["space"] or who.get("start") is None:
        return False
    return _start_time(who["pid"]) != who["start"]


class Lock:
    """Of a local folder, which exists."""

    def __init__(self, folder):
        path = folder.at(LOCK)
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The driver before this one may have removed the file before it was locked here.
            held, named = os.fstat(self.fd), os.stat(path)
            if (held.st_dev, held.st_ino) != (named.st_dev, named.st_ino):
                raise FileNotFoundError
        except BlockingIOError:
            os.close(self.fd)
            raise StateError(f"another driver or run is writing to {folder.path}: wait for it, or "
                             "choose another folder") from None
        except FileNotFoundError:
            os.close(self.fd)
            raise StateError(f"another driver has just finished in {folder.path}: run again") from None
        except BaseException:
            os.close(self.fd)
            raise

    def check(self):
        pass

    def close(self):
        """The file stays, unless its folder goes."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Lease:
    """Of a folder of another store."""

    def __init__(self, folder):
        self.folder = folder
        self.name = PREFIX + secrets.token_hex(8)
        self.who = myself()
        self.beats = 0
        self.held = False
        self.lost = None
        self.ended = threading.Event()
        self.guard = threading.Lock()
        for again in range(TRIES):
            other = self._take()
            if other is None:
                break
            if again + 1 < TRIES and other["age"] < BEAT:  # both may have begun just now
                time.sleep(random.uniform(0.2, 1.5))
        else:
            raise StateError(
                f"another driver ({other['said']}) is writing to {folder.uri}: wait for it, or choose "
                f"another folder; if it is dead, its lease ends {LAPSE:.0f} s after its last sign of "
                f"life, {max(other['age'], 0):.0f} s ago")
        self.thread = threading.Thread(target=self._live, name="neardup-lease", daemon=True)
        self.thread.start()

    def _write(self):
        self.folder.overwrite(self.name, json.dumps({**self.who, "held": self.held,
                                                     "beat": self.beats}))
        self.beats += 1

    def _others(self):
        """Leases of other drivers that have not ended: (name, who, age in seconds)."""
        times = self.folder.times()
        mine = times.get(self.name)
        found = []
        for name, time_ in times.items():
            if not name.startswith(PREFIX) or name == self.name:
                continue
            try:
                who = json.loads(self.folder.read(name))
            except Exception:  # being written, cut off, or gone by now
                who = {}
            age = 0.0 if mine is None else (mine - time_) / 1000
            found.append((name, who, age))
        return found

    def _take(self):
        """None, or the other driver that holds the folder or asks for it."""
        self._write()
        try:
            for name, who, age in self._others():
                if age > LAPSE or is_dead(who):
                    self.folder.remove(name)
                    continue
                self.folder.remove(self.name)
                said = f"process {who['pid']} on {who['host']}" if "pid" in who else "starting just now"
                return {"said": said, "age": age}
            self.held = True
            self._write()
        except BaseException:
            self.folder.remove(self.name)
            raise
        return None

    def _live(self):
        while not self.ended.wait(BEAT):
            with self.guard:
                if self.ended.is_set():
                    return
                try:
                    if not self.folder.exists(self.name):
                        self.lost = "its lease was taken away"
                        return
                    self._write()
                except Exception:
                    continue  # the next beat may get through; check() looks itself

    def check(self):
        """Does this driver still hold the folder?  Asked before every step that others see."""
        with self.guard:
            if self.lost is None and not self.folder.exists(self.name):
                self.lost = "its lease was taken away"
        if self.lost is None:
            if any(who.get("held") and age <= LAPSE and not is_dead(who)
                   for _, who, age in self._others()):
                self.lost = "another one has begun"
        if self.lost is not None:
            raise StateError(f"this driver was not heard of for {LAPSE:.0f} s, and {self.lost}: "
                             f"{self.folder.uri} belongs to another driver now; wait for that one")

    def close(self):
        self.ended.set()
        with self.guard:
            try:
                self.folder.remove(self.name)
            except Exception:  # it lapses
                pass


def claim(folder):
    """Makes the folder this driver's, or raises StateError."""
    folder.make()
    return Lock(folder) if hasattr(folder, "path") else Lease(folder)
