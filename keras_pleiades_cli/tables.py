"""Answers as JSON or CSV, written as they come: a long recording never lies in memory."""

import csv
import json
from collections.abc import Callable, Iterable

from keras_pleiades_cli.files import replacing


def write_json(path: str, rows: Iterable[dict], header: dict, summary: Callable[[], dict]) -> None:
    """Write one object: the header, `answers` with a row a line, and `summary`.

    Args:
        path: Where to.
        rows: The rows.
        header: What is known before them.
        summary: Called after the last row.
    """
    with replacing(path) as file:
        file.write("{\n")
        for name, value in header.items():
            file.write(f"{json.dumps(name)}: {json.dumps(value)},\n")
        file.write('"answers": [')
        separator = "\n"
        for row in rows:
            file.write(separator + json.dumps(row))
            separator = ",\n"
        file.write(f'\n],\n"summary": {json.dumps(summary())}\n}}\n')


def write_csv(path: str, rows: Iterable[dict], reader) -> None:
    """Write a line a row, or as many as the reader makes of one."""
    with replacing(path) as file:
        table = csv.DictWriter(file, reader.columns, lineterminator="\n")
        table.writeheader()
        for row in rows:
            for record in reader.records(row):
                table.writerow({**record, "ready": int(record["ready"])})
