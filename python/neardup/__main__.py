"""The command: `neardup …` and `python -m neardup …`.

Runs the C command in the package, except that `dedup` and `pairs` read Parquet files and
directories of Hugging Face datasets here, through pyarrow.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any, NoReturn

COMMAND = Path(__file__).parent / "neardup-command"


def parse(command: str, words: list[str]) -> tuple[dict[str, Any], list[str], str | None] | None:
    """Returns options, inputs and -o; None if the C command must answer (help, wrong usage)."""
    from neardup import _core

    table = {row["name"].replace("_", "-"): row for row in _core.option_table()}
    options: dict[str, Any] = {}
    inputs: list[str] = []
    output = None
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            inputs += words[at:]
            break
        if word in ("-q", "--quiet"):
            options["quiet"] = "yes"
        elif word in ("-o", "--output") and at < len(words):
            output = words[at]
            at += 1
        elif word.startswith("--"):
            name, given, value = word[2:].partition("=")
            row = table.get(name)
            if row is None or command not in row["commands"]:
                return None
            if row["type"] == "flag":
                options[name] = value or "yes"
            elif given:
                options[name] = value
            elif at < len(words):
                options[name] = words[at]
                at += 1
            else:
                return None
        elif word.startswith("-") and word != "-":
            return None
        else:
            inputs.append(word)
    return {k.replace("-", "_"): v for k, v in options.items()}, inputs, output


def tables(words: list[str]) -> int | None:
    """Runs a job on pyarrow input and returns the exit status; returns None for other input."""
    if not words or words[0] not in ("dedup", "pairs"):
        return None
    parsed = parse(words[0], words[1:])
    if parsed is None:
        return None
    options, inputs, output = parsed
    from neardup import parquet

    if not inputs or not parquet.any_table(inputs) or (words[0] == "dedup") != (output is not None):
        return None
    options.setdefault("threshold", None)
    options.pop("progress", None)
    quiet = options.pop("quiet", None)
    if words[0] == "pairs":
        return list_pairs(inputs, options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        s = parquet.dedup(inputs, str(output), options, None)
    if quiet:
        return 3 if s["rejected"] else 0
    if s.get("complete"):
        print(f"{output} is complete already: nothing to do", file=sys.stderr)
        return 3 if s["rejected"] else 0
    print(
        f"read      {s['documents']:,} documents in {s['files']} files\n"
        f"kept      {s['kept']:,}\n"
        f"dropped   {s['dropped']:,} ({s['copies']:,} exact duplicates) from {s['clusters']:,} clusters\n"
        f"pairs     {s['pairs']:,}\n"
        f"recall    {s['predicted_recall']:.4f} predicted at the threshold\n"
        f"time      {s['seconds']:.2f} s, {s['threads']} threads\n"
        f"result    {output}/kept, clusters.tsv, pairs.tsv, summary.json",
        file=sys.stderr,
    )
    return 3 if s["rejected"] else 0


def list_pairs(inputs: list[str], options: dict[str, Any]) -> int:
    """Writes pairs; the id of a row is its value in the id column, or FILE:ROW."""
    from neardup import _core, parquet

    checked = _core.Options(**options)
    checked.check()
    parts = _core.MemoryJob(checked, None, parquet.flow(inputs, options), dedup=False).result()
    parts["cluster"] = []
    ids = parquet._Ids(parts, str(options.get("id_field") or "id"))
    first = 0
    for source in parquet.find(inputs):
        row = 0
        columns = [ids.field] if ids.field in source.schema().names else []
        for batch in source.batches(columns):
            ids.take(source, batch, first, row)
            first += batch.num_rows
            row += batch.num_rows
    for a, b, s in parts["pairs"]:
        sys.stdout.write(f"{ids.names[a]}\t{ids.names[b]}\t{parquet.shown(parts, s)}\n")
    return 3 if parts["rejected"] else 0


def main() -> None:
    from neardup.errors import Error, UsageError

    try:
        status = tables(sys.argv[1:])
    except UsageError as e:
        _complain(e, 2)
    except Error as e:
        _complain(e, 1)
    except KeyboardInterrupt:
        sys.exit(130)
    if status is not None:
        sys.exit(status)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(COMMAND, ["neardup", *sys.argv[1:]])


def _complain(e: Exception, status: int) -> NoReturn:
    print(f"neardup: {e}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
