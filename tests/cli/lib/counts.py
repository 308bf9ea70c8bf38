"""counts.py DIR: the counts of DIR/summary.json, and whether they add up."""
import json
import sys

counts = json.load(open(sys.argv[1] + "/summary.json", encoding="utf-8"))["counts"]
names = ["documents", "kept", "dropped", "rejected"]
print(", ".join(f"{counts[n]} {n}" for n in names))
if counts["documents"] != counts["kept"] + counts["dropped"] + counts["rejected"]:
    print("documents were lost")
rejected = sum(1 for _ in open(sys.argv[1] + "/rejected.tsv", "rb"))
if rejected != counts["rejected"]:
    print(f"rejected.tsv has {rejected} lines")
