"""English words that carry no meaning in a question; they are indexed, and only asked for alone."""

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
