#!/usr/bin/env python3
"""Tests of neardup.spark on HDFS and S3, served on loopback; speaks TAP.

tests/stores/run.py [pytest arguments]

Needs Java and the network, once: Hadoop's servers and its way to S3 are fetched from Maven
(60 MB, by Spark's own Ivy) and moto, which plays S3, from PyPI.  They stay below build/.
"""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/spark"))

import run as spark_tests  # noqa: E402

if __name__ == "__main__":
    sys.exit(spark_tests.main("tests/stores", ["spark", "stores"]))
