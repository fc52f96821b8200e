"""Does evidence still hold in the code that is there now? A rule engine without state or I/O.

The caller gives a case and a `World`; what comes back names the rule that decided and its steps.
"""

from codememory.verdicts.aggregate import Aggregate, aggregate
from codememory.verdicts.hunks import judge_deletion, judge_hunk
from codememory.verdicts.lines import line_hash, normalise
from codememory.verdicts.mapping import TextCache
from codememory.verdicts.paths import PathHistory
from codememory.verdicts.places import LineIndex
from codememory.verdicts.segments import contains_segment, judge_segment
from codememory.verdicts.values import (
    METHOD_KINDS,
    ChangedSymbol,
    CurrentFile,
    CurrentSymbol,
    Flag,
    HunkCase,
    Inverse,
    Method,
    Places,
    Source,
    Step,
    Verdict,
    VerdictKind,
    World,
)

RULESET = 2  # widened when a rule or a threshold changes: stored verdicts of older sets are redone

__all__ = [
    "METHOD_KINDS",
    "RULESET",
    "Aggregate",
    "ChangedSymbol",
    "CurrentFile",
    "CurrentSymbol",
    "Flag",
    "HunkCase",
    "Inverse",
    "LineIndex",
    "Method",
    "PathHistory",
    "Places",
    "Source",
    "Step",
    "TextCache",
    "Verdict",
    "VerdictKind",
    "World",
    "aggregate",
    "contains_segment",
    "judge_deletion",
    "judge_hunk",
    "judge_segment",
    "line_hash",
    "normalise",
]
