"""Inputs are never written over, whatever the function and the format."""
import os

import neardup
import pytest
from neardup import _core

LINES = "".join('{"id": "%d", "text": "some words of text number %d"}\n' % (i, i // 2) for i in range(6))


def picture(folder):
    return {p: (p.stat().st_ino, p.stat().st_mtime_ns, p.read_bytes() if p.is_file() else None)
            for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.jsonl").write_text(LINES)
    neardup.dedup_files(tmp_path / "in", tmp_path / "out")
    (tmp_path / "link").symlink_to("out")
    return tmp_path


@pytest.mark.parametrize("resume", ["auto", "never"])
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("source, output", [("in", "in/out"), ("in", "in"), ("in/a.jsonl", "in"), ("out/kept", "out"),
                                            ("out/kept/a.jsonl", "link"), ("link/kept", "out"), ("in", ".")])
def test_no_input_is_written_over(tree, source, output, force, resume):
    before = picture(tree)
    with pytest.raises(neardup.UsageError) as caught:
        neardup.dedup_files(tree / source, tree / output, force=force, resume=resume)
    assert str(tree / source) in str(caught.value)
    assert str(tree / output) in str(caught.value)
    with pytest.raises(neardup.UsageError):
        neardup.dedup_files(tree / "in/a.jsonl", tree / "out", against=tree / "out/kept", resume=resume)
    assert picture(tree) == before


def test_check_outputs(tree):
    _core.check_outputs([("output", tree / "new", True)], [("an input", tree / "in"), ("against", str(tree / "out"))])
    _core.check_outputs([], [])
    with pytest.raises(neardup.UsageError, match="against .*/out lies inside output "):
        _core.check_outputs([("output", tree, True)], [("against", os.fsencode(tree / "out"))])
    with pytest.raises(neardup.UsageError, match="b .*/x/y lies inside a "):
        _core.check_outputs([("a", tree / "x", True), ("b", tree / "x/y", True)], [])
    with pytest.raises(neardup.UsageError, match="loose is a dangling symbolic link"):
        (tree / "loose").symlink_to("nothing")
        _core.check_outputs([("a", tree / "loose", False)], [])
    with pytest.raises(neardup.UsageError):
        _core.check_outputs([("a", "with\0zero", False)], [])
