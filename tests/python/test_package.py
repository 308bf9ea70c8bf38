"""The package as a whole: command, options, types, examples."""
import doctest
import importlib
import pkgutil
import subprocess
import sys

import neardup
import pytest
from conftest import ROOT
from neardup import _core

# Modules that need what is not installed here by default.
APART = {"neardup.spark", "neardup.__main__"}


def modules():
    for found in pkgutil.iter_modules(neardup.__path__, "neardup."):
        if found.name not in APART and not found.name.split(".")[1].startswith("_"):
            yield found.name


def test_version_is_the_command_s():
    said = subprocess.run([sys.executable, "-m", "neardup", "--version"], capture_output=True,
                          text=True, check=True).stdout
    assert said.startswith(f"neardup {neardup.__version__} (")


def test_the_command_does_what_the_c_one_does(examples, tmp_path):
    said = [subprocess.run([*c, "pairs", str(examples)], capture_output=True, check=True).stdout
            for c in ([sys.executable, "-m", "neardup"], [ROOT / "build/neardup"])]
    assert said[0] == said[1] and said[0].count(b"\n") == 34


def test_escapes_and_back():
    for text, field in [("plain", "plain"), ("", ""), ("a\tb\\", "a\\tb\\\\"), ("\x1b\0é", "\\x1b\\x00é"),
                        ("x\u202ey", "x\\xe2\\x80\\xaey"), ("\udcff", "\\xff"), ("\ud800", "\\xed\\xa0\\x80")]:
        assert _core.escape(text) == field
    every = bytes(range(256)) * 2
    assert _core.unescape(_core.escape(every)) == every and _core.unescape("") == b""
    assert _core.unescape("C:\\q\\x4") == b"C:\\q\\x4"


def test_csv_is_for_lists_that_are_written(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"id": "=1", "text": "a b"}\n{"id": "x,y", "text": "A b"}\n')
    neardup.dedup_files(tmp_path / "in.jsonl", tmp_path / "out", csv=True)
    assert (tmp_path / "out/pairs.csv").read_bytes() == b"id_a,id_b,similarity\r\n'=1,\"x,y\",1.000000\r\n"
    with pytest.raises(neardup.UsageError, match="csv"):
        neardup.pairs(["a b", "a b"], csv=True)


@pytest.mark.parametrize("name", ["neardup", *modules()])
def test_examples_in_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_types_are_right():
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", "pyproject.toml",
                           "--cache-dir", "build/mypy", "python/neardup"], cwd=ROOT,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_stubs_name_what_is_there():
    """Every name of the stub is in the module, and every class of the module in the stub."""
    import ast
    tree = ast.parse((ROOT / "python/neardup/_core.pyi").read_text("utf-8"))
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        thing = getattr(_core, node.name)
        for part in node.body if isinstance(node, ast.ClassDef) else []:
            if isinstance(part, ast.FunctionDef):
                assert hasattr(thing, part.name), f"{node.name}.{part.name}"
    told = {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
    shown = {n for n, x in vars(_core).items() if isinstance(x, type)
             and x.__module__ == "neardup._core" and not n.startswith("_")}
    assert shown - told <= {"FilePaths", "Holder"}, shown - told


def test_stubs_agree_with_the_module(tmp_path):
    """Parameters, kinds and defaults, by mypy's stubtest."""
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n"
                                       "[mypy-neardup.spark.*]\nignore_errors = True\n")
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "neardup._core", "--concise",
                           "--mypy-config-file", "mypy.ini", "--ignore-unused-allowlist",
                           "--allowlist", ROOT / "tests/python/stubs_allowed.txt"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_unknown_option_names_the_nearest():
    with pytest.raises(neardup.UsageError, match="unknown option treshold; did you mean threshold"):
        neardup.dedup([], treshold=0.8)
    with pytest.raises(neardup.UsageError, match="did you mean bucket_cap"):
        neardup.pairs([], bucket_cup=3)
    with pytest.raises(neardup.UsageError, match="unknown option treshold"):
        neardup.dedup([], treshold=None)


def test_options_have_the_command_s_defaults():
    given = _core.Options().as_dict()
    for row in _core.option_table():
        if row["default"] and row["type"] in ("word", "decimal", "count", "seed"):
            assert given[row["name"]] == row["default"], row["name"]


@pytest.mark.parametrize("value, text", [(0.8, "0.8"), (1, "1"), ("0.75", "0.75"), (1e-5, "0.00001"),
                                         (0.1 + 0.2, "0.3"), (2 / 3, "0.666666667")])
def test_thresholds_are_decimals(value, text):
    assert _core.Options(threshold=value).as_dict()["threshold"] == text


@pytest.mark.parametrize("options, reason", [
    ({"threshold": float("nan")}, "threshold"), ({"threshold": -1}, "threshold"),
    ({"threshold": 2}, "out of range"), ({"threads": "many"}, "whole number"),
    ({"method": "magic"}, "one of: minhash"), ({"keep": "newest"}, "keep_values"),
    ({"shingle": "words:0"}, "shingle"), ({"keep": "a\0b"}, "NUL"), ({"threads": object()}, "number"),
    ({"progress": 3}, "callable"), ({"shard": "1/2"}, "output directory"), ({"tmp": "/no/where"}, "/no/where"),
])
def test_wrong_options_are_told(options, reason):
    with pytest.raises(neardup.Error, match=reason):
        neardup.dedup(["a b c", "a b c"], **options)


def test_a_wheel_has_all_it_needs():
    """Types, the command and no source of the extension."""
    from pathlib import Path
    place = Path(neardup.__file__).parent
    names = {p.name for p in place.iterdir()}
    assert {"py.typed", "_core.pyi", "neardup-command"} <= names
    assert not [n for n in names if n.endswith((".pyx", ".pxd", ".pxi", ".c"))]
