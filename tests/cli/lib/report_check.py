"""report_check.py DIR: holds DIR/report.html against DIR/summary.json and says
what is in it; --plain prints the page without what tells times and options."""
import html.parser
import json
import re
import sys
from pathlib import Path

VOID = {"meta", "br", "input", "link"}


class Page(html.parser.HTMLParser):
    """Numbers by their id; every element must close."""

    def __init__(self):
        super().__init__()
        self.open, self.data, self.faults, self.events = [], {}, [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "data":
            self.data[attributes["id"]] = attributes["value"]
        self.events += [a for a in attributes if a.startswith("on") or a == "style" or a == "src"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)


def main():
    plain = "--plain" in sys.argv
    folder = Path(sys.argv[-1])
    text = (folder / "report.html").read_text("utf-8")
    if plain:
        text = re.sub(r'<section id="cost">.*?</section>', "", text, flags=re.S)
        print(re.sub(r'<section id="again">.*?</section>', "", text, flags=re.S))
        return
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    counts, page = summary["counts"], Page()
    page.feed(text)
    embedded = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
    same = {"n-documents": counts["documents"], "n-kept": counts["kept"], "n-dropped": counts["dropped"],
            "n-rejected": counts["rejected"], "n-pairs": counts["pairs"], "n-clusters": counts["clusters"],
            "n-copies": min(counts["exact_copies"], counts["dropped"])}
    wrong = {k: (page.data.get(k), v) for k, v in same.items() if page.data.get(k) != str(v)}
    drawn = sum(int(n) for n in re.findall(r"pairs: (?:similarity|edit distance) [^<]*, pairs (\d+)<", text))
    slider = re.search(r'id="threshold" min="(\d+)"', text)  # at its left end it says what was done
    stays = embedded["stays"][int(slider[1])] if slider else counts["kept"]
    sane = all(counts["kept"] <= n <= counts["documents"] for n in embedded["stays"][int(slider[1]) if slider else 101:])
    print("below 2 MB" if len(text.encode()) < 2000000 else f"{len(text)} bytes",
          "well closed" if not page.faults and page.open == [] else page.faults + page.open,
          "no handlers" if not page.events else page.events)
    print("numbers agree" if not wrong else wrong,
          "bars add up" if drawn == counts["pairs"] else f"bars {drawn}, pairs {counts['pairs']}",
          "slider adds up" if stays == counts["kept"] and sane else f"slider {embedded['stays']}")
    print(len(embedded["clusters"]), "clusters embedded,",
          sum("t" in c for c in embedded["clusters"]), "with texts")


main()
