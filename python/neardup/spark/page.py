"""Data of report.html beyond the lists: parts of the corpus and texts of a sample."""
import os

import numpy

from neardup.spark import texts, work

FEW_FILES = 200  # more files are counted by directory, as on one machine
SITES = 1_000_000  # counted by the driver; the report omits further ones


class Shown:
    def __init__(self, run):
        self.run = run
        self.paths = run.source.paths()
        self.by_folder = run.source.size()[0] > FEW_FILES
        self.wanted = work.Wanted(run.settle.report_texts())
        self.parts = {}
        self.sites = 0
        self.texts = {}

    def take(self, row):
        """Adds the data of a block."""
        for line in bytes(row["parts"]).splitlines():
            kind, documents, dropped, name = line.split(b"\t", 3)
            if kind == b"f":
                name = os.fsencode(self.paths(row["unit"])[int(name)])
                if self.by_folder:
                    name = os.path.dirname(name) or b"."
            known = self.parts.get((kind, name))
            if known is None:
                self.sites += kind == b"s"
                if kind == b"s" and self.sites > SITES:
                    continue
                known = self.parts[kind, name] = [0, 0]
            known[0] += int(documents)
            known[1] += int(dropped)
        self.take_texts(row["sampled"], row["sample_ends"], row["sample"])

    def take_texts(self, documents, ends, data):
        for d, text in zip(numpy.frombuffer(documents, numpy.uint32).tolist(),
                           texts.pieces(data, ends)):
            self.texts[d] = bytes(text)

    def fetch(self):
        """Fetches the remaining texts of the sample."""
        run = self.run
        if len(self.texts) == len(self.wanted.documents):
            return
        wanted = run.send(work.Wanted(self.wanted.documents,
                                      numpy.zeros(len(self.wanted.documents), numpy.int32)))
        rows = run.meter.run("sample", lambda: run.map(
            run.signed("texts", "texts_sum", "raw"),
            texts.fetch_texts(run.job, run.numbers, wanted, run.source.units),
            texts.TEXTS).toArrow())
        for row in work.rows_of(rows.to_batches()):
            self.take_texts(row["documents"], row["ends"], row["texts"])

    def write(self, folder, documents, names, rejected, inputs, directory):
        """Writes report.html, after summary.json."""
        lines = [b"\t".join((kind, str(n[0]).encode(), str(n[1]).encode(), name.replace(b"\n", b"?")))
                 for (kind, name), n in sorted(self.parts.items())]
        numbers = sorted(self.texts)
        self.run.settle.write_report(
            folder, documents, names, numpy.array(numbers, numpy.uint32),
            [self.texts[d] for d in numbers], b"".join(line + b"\n" for line in lines),
            self.by_folder, rejected, inputs, directory)
