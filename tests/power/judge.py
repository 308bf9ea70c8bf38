"""What is on the disk after a power cut, and whether it may be."""

import ctypes
import ctypes.util
import gzip
import hashlib
import json
import re
import subprocess
from pathlib import Path

HIDDEN = ".neardup"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class Broken(Exception):
    pass


def unpacked(data):
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    if data[:4] == ZSTD_MAGIC:
        return subprocess.run(["zstd", "-dcq"], input=data, check=True, capture_output=True).stdout
    return data


# A remedy may add options, and a rerun is another run; summary.json's own sums are checked apart.
VOLATILE = {"cost", "run", "resume", "force"}
COST = re.compile(rb"<p>[0-9.,]+ seconds on .*?</table>|<code id=\"command\">.*?</code>", re.S)


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items()
                if k not in VOLATILE and "second" not in k and "memory" not in k
                and not (k == "files" and isinstance(v, list))}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def essence(name, data):
    """A file's content but for what differs between two undisturbed runs: times."""
    if name == "spark.json":  # what every stage cost
        return str(sorted(json.loads(data))).encode()
    if name.endswith(".json"):
        return json.dumps(without_times(json.loads(data)), sort_keys=True).encode()
    if name.endswith("report.html"):
        return COST.sub(b"", data)
    return unpacked(data)


def content(path):
    """name: SHA-256 of every file of a folder, or of a file, but for the hidden work folder.
    A file that is damaged has a word in place of the sum."""
    path, found = Path(path), {}
    if path.is_file():
        return {"": hashlib.sha256(path.read_bytes()).hexdigest()}
    for file in sorted(path.rglob("*")) if path.is_dir() else ():
        name = str(file.relative_to(path))
        if name.split("/")[0] == HIDDEN or not (file.is_file() or file.is_symlink()):
            continue
        try:
            data = file.read_bytes()
            found[name] = hashlib.sha256(essence(name, data)).hexdigest()
        except Exception as error:
            found[name] = f"damaged: {type(error).__name__}"
    return found


def difference(want, got):
    """In words; empty where both are the same."""
    said = [f"{n} is missing" for n in want if n not in got]
    said += [f"{n} is not of this result" for n in got if n not in want]
    said += [f"{n or 'the file'} differs" + (f" ({got[n]})" if got[n].startswith("damaged") else "")
             for n in want if n in got and want[n] != got[n]]
    return "; ".join(said[:6])


def load_xxh3():
    name = ctypes.util.find_library("xxhash")
    try:
        function = ctypes.CDLL(name).XXH3_64bits if name else None
    except (OSError, AttributeError):
        return None
    if function:
        function.restype, function.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]
    return function


XXH3 = load_xxh3()


def check_sums(folder):
    """summary.json's list of files, where it has one, holds to the byte."""
    folder = Path(folder)
    try:
        listed = json.loads((folder / "summary.json").read_text()).get("files")
    except (OSError, ValueError):
        return "summary.json cannot be read"
    if not isinstance(listed, list):
        return ""
    there = {str(f.relative_to(folder)) for f in folder.rglob("*")
             if f.is_file() and f.relative_to(folder).parts[0] != HIDDEN} - {"summary.json"}
    names = {row["name"] for row in listed} - {"summary.json"}
    if there != names:
        return f"summary.json lists other files: {sorted(there ^ names)[:4]}"
    for row in listed:
        if row["name"] == "summary.json":
            continue
        data = (folder / row["name"]).read_bytes()
        if len(data) != row["bytes"]:
            return f"{row['name']} has {len(data)} bytes, not {row['bytes']}"
        if XXH3 and f"{XXH3(data, len(data)):016x}" != row["xxh3"]:
            return f"{row['name']} has another XXH3 than summary.json says"
    return ""


def is_complete(folder):
    """The folder claims to hold a complete result."""
    return (Path(folder) / "summary.json").exists() and not (Path(folder) / HIDDEN).exists()


def listing(folder):
    """What is there, for a report of a failure."""
    lines = []
    for file in sorted(Path(folder).rglob("*")):
        if file.is_file():
            data = file.read_bytes()
            zeros = len(data) - len(data.lstrip(b"\0"))
            note = f", begins with {zeros} zeros" if zeros else ""
            lines.append(f"{file.relative_to(folder)}: {len(data)} bytes{note}")
        elif file.is_dir() and not any(file.iterdir()):
            lines.append(f"{file.relative_to(folder)}/ (empty)")
    return lines[:40]
