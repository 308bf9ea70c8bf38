"""The examples of docs/python.md."""
import doctest
import re

from conftest import ROOT


def test_examples_of_the_page(monkeypatch):
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs/python.md").read_text("utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```$", text, re.M | re.S)
    assert len(blocks) >= 6
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/python.md", None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    said = []
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)
    assert runner.tries > 25
