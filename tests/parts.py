"""The table of all parts of the tests: what is run, in which build, for which suite.

A suite takes its own parts and those of the suites before it:
  core   a minute: the release build, unit and command-line tests, documents
  test   ten minutes on two cores: every feature
  all    35 minutes on two cores: every sanitizer, kill, place of a failure, power cut,
         the browser, Spark's cluster
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

from tap import ROOT

SUITES = ["core", "test", "all"]
JOBS = max(2, os.cpu_count() or 2)

SANITIZED = ["--buildtype=debugoptimized", "-Db_lundef=false", "-Dman=disabled"]
TREES = {  # name: (folder, Meson options)
    "release": ("build", []),
    "asan": ("build/asan", SANITIZED + ["-Db_sanitize=address,undefined"]),
    "tsan": ("build/tsan", SANITIZED + ["-Db_sanitize=thread"]),
}
SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "second_deadlock_stack=1:halt_on_error=0",
}


@dataclass
class Part:
    """Programs that belong together.  A part starts when its build and the part `after`
    it are done and as many cores are free as it takes."""

    suite: str
    name: str
    programs: list  # (name, command)
    tree: str = "release"  # whose build it needs, or None
    after: str = ""
    cores: int = 1  # how many programs run at a time, too
    timeout: int = 900
    env: dict = field(default_factory=dict)
    in_memory: bool = False  # temporary files, where there is /dev/shm
    per_case: bool = True  # a line for each case, not for each program
    prepares: bool = False  # says nothing, and cannot fail: what needs it will say so


def no_randomised_addresses():
    """Sanitizers of older compilers fail by chance where the kernel randomises
    many address bits; setarch switches that off where it is allowed."""
    command = ["setarch", os.uname().machine, "-R"]
    if shutil.which("setarch") and subprocess.run(
            command + ["true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
        return command
    return []


def unit_tests():
    return [s.stem for s in sorted((ROOT / "tests/unit").glob("test_*.c"))]


def python(*command):
    """One program, without a name of its own."""
    return [("", [sys.executable, *command])]


def compiling(suite, tree):
    folder, options = TREES[tree]
    return Part(suite, f"compile {folder}", [("", ["tools/build", folder, *options])], tree=None,
                cores=JOBS)


def units(suite, tree, name, wrapper=()):
    folder = TREES[tree][0]
    programs = [(unit, [*wrapper, f"{folder}/tests/unit/{unit}"]) for unit in unit_tests()]
    return Part(suite, name, programs, tree, cores=JOBS, timeout=300, per_case=False,
                env=SANITIZER_ENV if wrapper else {})


def command_line(suite, tree, name, wrapper=()):
    command = [*wrapper, sys.executable, "tests/cli/run.py", "--neardup", f"{TREES[tree][0]}/neardup"]
    if tree != "release":
        command += ["--sanitizer", tree]
    return Part(suite, name, [("", command)], tree, cores=JOBS, timeout=1200,
                env=SANITIZER_ENV if wrapper else {})


def all_parts():
    """In the order in which they start, where cores are free."""
    wrapper = no_randomised_addresses() or ["env"]
    unit = "build/tests/unit"
    return [
        Part("test", "prepare Java and Python's packages",
             [("", ["sh", "-c", "tools/install-deps java; tools/python-env spark"])], tree=None,
             cores=0, timeout=600, prepares=True),
        compiling("core", "release"),
        units("core", "release", "unit tests"),
        command_line("core", "release", "command line"),
        Part("core", "layers", python("tests/layers.py", "--build", "build")),
        Part("core", "headers", python("tests/headers.py", "--build", "build")),
        Part("core", "documents", python("tests/docs.py")),
        Part("core", "examples", python("tools/make-examples", "--check")),
        Part("core", "fuzz inputs", python("fuzz/run", "--replay")),
        Part("core", "JSON against Python", python("fuzz/json_against_python.py")),

        Part("test", "promises", python("tests/promises/run.py", "--kills", "4")),
        Part("test", "Spark on one machine", python("tests/spark/run.py", "tests/spark/test_spark_local.py"),
             after="prepare Java and Python's packages"),
        Part("test", "Python package", python("tests/python/run.py"),
             after="prepare Java and Python's packages"),
        Part("test", "power cuts", python("tests/power/run.py", "--moments", "3"),
             after="prepare Java and Python's packages"),
        Part("test", "nets", python("tests/nets/run.py", "--quick")),
        compiling("test", "asan"),
        units("test", "asan", "unit tests, address and undefined-behaviour sanitizers", wrapper),

        compiling("all", "tsan"),
        Part("all", "Spark on a cluster",
             python("tests/spark/run.py", "tests/spark/test_spark_cluster.py",
                    "tests/spark/test_spark_output.py"),
             after="prepare Java and Python's packages", timeout=1800),
        Part("all", "every place fails once", [("", [f"{unit}/test_faults"])],
             env={"NEARDUP_FAULTS": "places"}, in_memory=True, timeout=2000),
        Part("all", "killed at every call", [("", [f"{unit}/test_kills"])],
             env={"NEARDUP_KILLS": "all"}, timeout=2000),
        Part("all", "killed at random times", python("tests/promises/run.py", "--kills", "40", "SIGKILL")),
        Part("all", "power cuts at more moments", python("tests/power/run.py", "--moments", "6"),
             after="prepare Java and Python's packages"),
        Part("all", "pages in a browser", python("tests/browser/run.py", "--neardup", "build/neardup"),
             after="prepare Java and Python's packages"),
        command_line("all", "asan", "command line, address and undefined-behaviour sanitizers", wrapper),
        Part("all", "fuzz inputs, address and undefined-behaviour sanitizers",
             [("", [*wrapper, sys.executable, "fuzz/run", "--replay", "--build", "build/asan"])], "asan",
             env=SANITIZER_ENV),
        units("all", "tsan", "unit tests, thread sanitizer", wrapper),
        command_line("all", "tsan", "command line, thread sanitizer", wrapper),
    ]
