"""peak.py DIR LIMIT_MB: whether a run stayed below a limit of memory."""
import json
import sys

peak = json.load(open(sys.argv[1] + "/summary.json", encoding="utf-8"))["cost"]["peak_memory"]
limit = int(sys.argv[2]) << 20
print("memory stayed flat" if peak < limit else f"peak memory was {peak >> 20} MB")
