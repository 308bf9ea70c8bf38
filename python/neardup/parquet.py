"""Parquet files and folders of Hugging Face datasets, batch by batch, through pyarrow."""

from __future__ import annotations

from typing import Any


def any_table(paths: list[str]) -> bool:
    return False


def flow(paths: list[str], options: dict[str, Any]) -> Any:
    raise NotImplementedError


def dedup(paths: list[str], output: str, options: dict[str, Any], progress: Any) -> dict[str, Any]:
    raise NotImplementedError
