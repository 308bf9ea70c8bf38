"""An ext4 file system in a file, whose power can be cut.

The cut is the ioctl EXT4_IOC_SHUTDOWN without a flush of the log: from then on nothing
reaches the disk, and what the journal and write-back had not brought there is lost.
Mounts live in a mount name space of the test's own, and loop devices detach with their
mount, so all of it goes when the test ends, however it ends.
"""

import ctypes
import fcntl
import os
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

SHUTDOWN, WITHOUT_LOG = 0x8004587D, 2
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]
BYSTANDER = ".bystander"
OURS = {BYSTANDER, "lost+found"}


class Unavailable(Exception):
    """No such disk can be had here, and why."""


def enter_own_mounts():
    """Starts this program again in a mount name space of its own."""
    if os.geteuid() != 0:
        raise Unavailable("only root may mount a disk")
    for tool in ("mkfs.ext4", "mount", "umount", "unshare"):
        if not shutil.which(tool, path=os.environ.get("PATH", "") + ":/sbin:/usr/sbin"):
            raise Unavailable(f"no {tool}")
    if os.environ.get("NEARDUP_POWER_INSIDE") == str(os.getpid()):
        return
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        raise Unavailable("no mount name space of its own")
    os.environ["NEARDUP_POWER_INSIDE"] = str(os.getpid())  # unshare and exec keep the number
    os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, *sys.argv])


def tool(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                          env={**os.environ, "PATH": os.environ.get("PATH", "") + ":/sbin:/usr/sbin"})
    if done.returncode:
        raise OSError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


class Disk:
    """An image and where it is mounted."""

    def __init__(self, folder, megabytes=320):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.image, self.root = self.folder / "disk.img", self.folder / "disk"
        self.root.mkdir(exist_ok=True)
        self.megabytes, self.mounted = megabytes, False

    def format(self):
        self.image.unlink(missing_ok=True)
        with open(self.image, "wb") as image:
            image.truncate(self.megabytes << 20)
        tool("mkfs.ext4", "-q", "-F", "-b", 4096, "-E", "lazy_itable_init=0,nodiscard", self.image)

    def copy_from(self, template):
        self.image.unlink(missing_ok=True)
        tool("cp", "--sparse=always", template.image, self.image)

    def mount(self, options="commit=5"):
        tool("mount", "-t", "ext4", "-o", f"loop,{options}", self.image, self.root)
        self.mounted = True

    def unmount(self):
        if not self.mounted:
            return
        for attempt in range(1000):  # a killed process may still hold a file
            try:
                tool("umount", self.root)
                break
            except OSError:
                if attempt == 999:
                    raise
                time.sleep(0.02)
        self.mounted = False

    def _with(self, path, act, flags=os.O_RDONLY):
        try:
            fd = os.open(path, flags | os.O_NOFOLLOW, 0o600)
        except OSError:
            return
        try:
            act(fd)
        except OSError:
            pass  # after the cut, or the file has gone
        finally:
            os.close(fd)

    def commit_journal(self):
        """What the kernel does every few seconds: the metadata so far, not the data."""
        def act(fd):
            os.write(fd, b"x")
            os.fsync(fd)
        self._with(self.root / BYSTANDER, act, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write_back(self, random):
        """What the kernel may do at any time: some data of some files, without their metadata."""
        for folder, _, names in os.walk(self.root):
            for name in names:
                if name not in OURS and random.random() < 0.5:
                    def act(fd):
                        size = os.fstat(fd).st_size
                        at = random.choice((0, 0, random.randrange(size + 1) & ~4095))
                        LIBC.sync_file_range(fd, at, random.choice((0, 4096, size // 2)), 7)
                    self._with(os.path.join(folder, name), act)

    def sync(self):
        self._with(self.root, lambda fd: LIBC.syncfs(fd))

    def cut(self):
        fd = os.open(self.root, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, SHUTDOWN, struct.pack("I", WITHOUT_LOG))
        finally:
            os.close(fd)


def probe(folder):
    """Raises Unavailable unless a disk can be made, mounted and cut here."""
    disk = Disk(folder, 16)
    try:
        disk.format()
        disk.mount()
        disk.cut()
        disk.unmount()
    except OSError as error:
        raise Unavailable(f"no ext4 on a loop device: {error}") from None
    finally:
        subprocess.run(["umount", "-l", disk.root], capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)
