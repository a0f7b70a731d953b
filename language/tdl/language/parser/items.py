"""Where the items of a file are: an item keyword followed by a name in column 1 starts one, whatever is open before it.

    ## doc                  chunk 1 starts here,
    op f(...) -> ... { }
    # comment               and ends before this comment, which belongs to nothing
    test t: f(...)          chunk 2

The text before the first item is chunk 0. This is all that stands between an edit and re-parsing the whole file.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from tdl.grammar.tables import load_tables
from tdl.language.parser.docs import doc_start
from tdl.language.parser.lines import content_end


@lru_cache(maxsize=1)
def item_keywords() -> frozenset[str]:
    """The words that start an item: what the grammar accepts first."""
    return frozenset(load_tables().words["items"])


@lru_cache(maxsize=1)
def item_head() -> re.Pattern[str]:
    """Matches the head of an item in column 1; groups: its keyword and its name."""
    words = "|".join(sorted(item_keywords()))
    return re.compile(rf"(?:\A\ufeff?|(?<=[\r\n]))({words})[ \t\f]+([^\W\d]\w*)")


def split_items(text: str) -> list[tuple[int, str]]:
    """The chunks as (offset, text), in order; chunk 0, which may be empty, holds no item."""
    starts = [doc_start(text, match.start(1)) for match in item_head().finditer(text)]
    bounds = [0, *starts, len(text)]
    return [(start, text[start : content_end(text, start, end)]) for start, end in pairwise(bounds)]
