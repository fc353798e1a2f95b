"""The text header of Prophesee's files: lines of "% key value", perhaps ended by "% end"."""

import re

MAX_HEADER = 1 << 16
LINE = re.compile(rb"%[ \t]?[\t\x20-\x7e\x80-\xff]*\r?\n")


def read_header(path) -> tuple[int, dict[str, str]]:
    """Returns where the data begins and the header's keys, in small letters, with their values."""
    start, keys = 0, {}
    with open(path, "rb") as file:
        # A data word may begin with "%" too: a line counts as header only when it is printable.
        while start < MAX_HEADER and LINE.fullmatch(line := file.readline(1 << 12)):
            start += len(line)
            key, _, value = line[1:].decode("latin-1").strip().partition(" ")
            keys[key.lower()] = value.strip()
            if key.lower() == "end" and not value:
                break
    return start, keys


def sensor_of(keys: dict[str, str]) -> tuple[int, int] | None:
    """Finds (height, width) in `% width`, `% geometry 1280x720` or `% format EVT3;width=...`."""
    found = (
        re.search(r"height=(\d+)", keys.get("format", "")),
        re.search(r"width=(\d+)", keys.get("format", "")),
    )
    if all(found):
        height, width = (int(match.group(1)) for match in found)
    elif geometry := re.fullmatch(r"(\d+)x(\d+)", keys.get("geometry", "")):
        width, height = (int(size) for size in geometry.groups())
    elif keys.get("width", "").isdecimal() and keys.get("height", "").isdecimal():
        height, width = int(keys["height"]), int(keys["width"])
    else:
        return None
    return (height, width) if 0 < height <= 65536 and 0 < width <= 65536 else None
