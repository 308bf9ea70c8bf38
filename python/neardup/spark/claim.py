"""Mutual exclusion of drivers on a directory.

A local directory has a lock file; the system releases the lock when the process ends.
Other stores have leases.  A driver first writes its own lease file as a request, then
lists the directory.  If another driver has a valid lease, it removes its own; otherwise
it marks its lease as held.  Of two drivers that start at once, at least one sees the
other, on every store with consistent listings (HDFS, S3, GCS, ABFS), even if the store
cannot create files atomically.
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
BEAT = 15.0  # seconds between two writes of a lease
LAPSE = 120.0  # seconds without a write, by the clock of the store, after which a lease ends
TRIES = 3  # attempts if two drivers start at once


def _start_time(pid):
    """Returns the start time of a process in the units of Linux, or None."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            return int(f.read().rpartition(b")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return None


def boot_id():
    """Returns the boot id of the system, or "" if it is unknown."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return ""


def myself():
    """Returns the identity of this driver, for is_dead()."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    pid = os.getpid()
    return {"host": socket.gethostname(), "boot": boot_id(),
            "space": space, "pid": pid, "start": _start_time(pid)}


def is_dead(who):
    """Tests whether a driver is known to be dead; possible only for this machine."""
    here = myself()
    if who.get("host") != here["host"] or not here["boot"] or not who.get("boot"):
        return False
    if who["boot"] != here["boot"]:
        return True  # the machine has restarted since
    if not here["space"] or who.get("space") != here["space"] or who.get("start") is None:
        return False
    return _start_time(who["pid"]) != who["start"]


class Lock:
    """The lock of an existing local directory."""

    def __init__(self, folder):
        path = folder.at(LOCK)
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The previous driver may have removed the file before it was locked here.
            held, named = os.fstat(self.fd), os.stat(path)
            if (held.st_dev, held.st_ino) != (named.st_dev, named.st_ino):
                raise FileNotFoundError
        except BlockingIOError:
            os.close(self.fd)
            raise StateError(f"another driver or run is writing to {folder.path}: wait for it, or "
                             "choose another directory") from None
        except FileNotFoundError:
            os.close(self.fd)
            raise StateError(f"another driver has just finished in {folder.path}: run again") from None
        except BaseException:
            os.close(self.fd)
            raise

    def check(self):
        pass

    def close(self):
        """Releases the lock; the file stays."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class Lease:
    """The lease of a directory in another store."""

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
            if again + 1 < TRIES and other["age"] < BEAT:  # both may have just started
                time.sleep(random.uniform(0.2, 1.5))
        else:
            raise StateError(
                f"another driver ({other['said']}) is writing to {folder.uri}: wait for it, or choose "
                f"another directory; if it is dead, its lease ends {LAPSE:.0f} s after its last "
                f"write, {max(other['age'], 0):.0f} s ago")
        self.thread = threading.Thread(target=self._live, name="neardup-lease", daemon=True)
        self.thread.start()

    def _write(self):
        self.folder.overwrite(self.name, json.dumps({**self.who, "held": self.held,
                                                     "beat": self.beats}))
        self.beats += 1

    def _others(self):
        """Returns the leases of other drivers: (name, who, age in seconds)."""
        times = self.folder.times()
        mine = times.get(self.name)
        found = []
        for name, time_ in times.items():
            if not name.startswith(PREFIX) or name == self.name:
                continue
            try:
                who = json.loads(self.folder.read(name))
            except Exception:  # being written, incomplete, or just removed
                who = {}
            age = 0.0 if mine is None else (mine - time_) / 1000
            found.append((name, who, age))
        return found

    def _take(self):
        """Takes the lease and returns None, or returns the other driver that has or requests it."""
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
                        self.lost = "its lease was removed"
                        return
                    self._write()
                except Exception:
                    continue  # the next write may succeed; check() tests the lease itself

    def check(self):
        """Raises StateError if the lease is lost.  Called before every step visible to others."""
        with self.guard:
            if self.lost is None and not self.folder.exists(self.name):
                self.lost = "its lease was removed"
        if self.lost is None:
            if any(who.get("held") and age <= LAPSE and not is_dead(who)
                   for _, who, age in self._others()):
                self.lost = "another one has started"
        if self.lost is not None:
            raise StateError(f"this driver did not write its lease for {LAPSE:.0f} s, and {self.lost}: "
                             f"{self.folder.uri} belongs to another driver now; wait for that one")

    def close(self):
        self.ended.set()
        with self.guard:
            try:
                self.folder.remove(self.name)
            except Exception:  # it expires
                pass


def claim(folder):
    """Claims the directory for this driver, or raises StateError."""
    folder.make()
    return Lock(folder) if hasattr(folder, "path") else Lease(folder)
