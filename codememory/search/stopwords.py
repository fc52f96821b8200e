"""English words that tell little in a question; they are indexed, and count fully only alone."""

from __future__ import annotations

_LIST = """
    a about after all also although am an and any are as at be because been before being between
    both but by can cannot could did do does doing during each either for from further had has have
    having he her here hers him his how i if in into is it its itself just let me more most my
    neither no nor not of off on once only or other our ours out over own per please same shall she
    should so some such t than that the their theirs them then there these they this those through
    to too under until up upon us very via was we were what when where whether which while who whom
    whose why will with within without would yet you your yours s
"""
STOPWORDS = frozenset(_LIST.split())

# They say what kind of change it was, seldom which: worth a share of another word in a question.
_VERBS = """
    add added adds adding allow change changed changes changing fix fixed fixes fixing improve
    improved make made makes making move moved moves moving new remove removed removes removing
    support update updated updates updating use used uses using
"""
CHANGE_VERBS = frozenset(_VERBS.split())
