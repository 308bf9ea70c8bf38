"""The package is there, and so is its command."""
import subprocess
import sys

import neardup
import pytest
from neardup import _core


def test_version_is_the_command_s():
    said = subprocess.run([sys.executable, "-m", "neardup", "--version"], capture_output=True,
                          text=True, check=True).stdout
    assert said.startswith(f"neardup {neardup.__version__} (")


def test_unknown_option_names_the_nearest():
    with pytest.raises(neardup.UsageError, match="no option treshold; did you mean threshold"):
        _core.Options(treshold=0.8)
    with pytest.raises(neardup.UsageError, match="did you mean bucket_cap"):
        _core.Options(bucket_cup=3)


def test_options_have_the_command_s_defaults():
    given = _core.Options().as_dict()
    for row in _core.option_table():
        if row["default"] and row["type"] in ("word", "text", "decimal", "count", "seed"):
            assert given[row["name"]] == row["default"], row["name"]


def test_a_missing_file_is_told():
    with pytest.raises(neardup.IOFailure, match="nowhere"):
        _core.FileJob(_core.Options(), None, ["nowhere"]).run()
