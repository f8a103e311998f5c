"""Lets the site's search find names by their parts: `rewriteRatio`, `METADATA_MISMATCH`.

Search takes `spark.truckee.dml.rewriteRatio` and `DELTA_METADATA_MISMATCH` for one word each. Words
that end at dots and underscores would find parts too, but then a whole name finds every page with
`spark` in its title. So the parts by which people know a name are added to the index.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_NAME = re.compile(r"\b(?:delta|spark)(?:\.\w+)+|\b(?:DELTA|TRUCKEE)_[A-Z_]+")


def parts_of(text: str) -> list[str]:
    """Return the ends of each property, setting and error class in a text, in order, once.

    `delta.columnMapping.mode` has `columnMapping.mode` and `mode`, `DELTA_VERSION_NOT_FOUND` has
    `VERSION_NOT_FOUND`.
    """
    found: dict[str, None] = {}
    for name in _NAME.findall(text):
        if "." in name:
            words = name.split(".")
            found |= dict.fromkeys(".".join(words[start:]) for start in range(1, len(words)))
        else:
            found[name.partition("_")[2]] = None
    return [part for part in found if not re.search(rf"(?<![\w.]){re.escape(part)}\b", text)]


def on_post_build(config: Mapping[str, Any]) -> None:
    """Add the parts of names to the index of a site that was built."""
    place = Path(config["site_dir"]) / "search" / "search_index.json"
    index = json.loads(place.read_text())
    for page in index["docs"]:
        if parts := parts_of(page["text"]):
            # A hit shows the paragraph it is in, so that each part has one of its own.
            page["text"] += "".join(f" <p>{part}</p>" for part in parts)
    place.write_text(json.dumps(index))
