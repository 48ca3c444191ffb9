"""The base of a word without a dictionary: endings cut off, and the verbs that change inside."""

from __future__ import annotations

import re
from functools import lru_cache

# a verb, then its past and its participle where they are not regular
_IRREGULAR = """
be am is are was were been being, beat beaten, become became, begin began begun, bend bent, bite bit bitten,
bleed bled, blow blew blown, break broke broken, bring brought, build built, burn burnt, buy bought, catch caught,
choose chose chosen, come came, creep crept, deal dealt, dig dug, do does did done, draw drew drawn,
drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought,
find found, flee fled, fly flew flown, forbid forbade forbidden, forget forgot forgotten,
forgive forgave forgiven, freeze froze frozen, get got gotten, give gave given, go goes went gone,
grow grew grown, hang hung, have has had, hear heard, hide hid hidden, hold held, keep kept, kneel knelt,
know knew known, lay laid, lead led, lean leant, learn learnt, leave left, lend lent, lie lying lain, light lit,
lose lost, make made, mean meant, meet met, pay paid, ride rode ridden, ring rang rung, rise rose risen, run ran,
say said, see saw seen, seek sought, sell sold, send sent, shake shook shaken, shine shone, shoot shot,
show shown, shrink shrank shrunk, sing sang sung, sink sank sunk, sit sat, sleep slept, slide slid,
speak spoke spoken, spend spent, spin spun, spring sprang sprung, stand stood, steal stole stolen, stick stuck,
strike struck stricken, swear swore sworn, sweep swept, swim swam swum, swing swung, take took taken,
teach taught, tear tore torn, tell told, think thought, throw threw thrown, understand understood,
wake woke woken, wear wore worn, weep wept, win won, wind wound, write wrote written, man men, woman women,
child children, foot feet, tooth teeth, mouse mice, person people persons, life lives, wife wives, knife knives,
leaf leaves, wolf wolves, not n't
"""
_FORMS = {
    form: forms[0]
    for line in _IRREGULAR.replace("\n", " ").split(",")
    if (forms := line.split())
    for form in forms
}
_ENDING = re.compile(r"(?:'s|ies|ied|ying|ing|ed|es|s)$")
_SHORTEST = 3  # letters that must be left


@lru_cache(maxsize=50_000)
def base(word: str) -> str:
    """What the forms of a lower-case word have in common; not always a word itself.

    >>> base("bites") == base("biting") == base("bitten"), base("played"), base("stories") == base("story")
    (True, 'play', True)
    """
    if word in _FORMS:
        return _cut(_FORMS[word])
    return _cut(word)


def _cut(word: str) -> str:
    found = _ENDING.search(word)
    if (
        found
        and found.start() >= _SHORTEST - (found.group() in ("s", "'s"))
        and not word.endswith(("ss", "us", "is"))
    ):
        ending, word = found.group(), word[: found.start()]
        if ending in ("ies", "ied", "ying"):
            word += "y"
        elif (
            ending in ("ing", "ed")
            and len(word) > _SHORTEST
            and word[-1] == word[-2]
            and word[-1] not in "lsz"
        ):
            word = word[:-1]
    if word.endswith("y") and len(word) > _SHORTEST:
        return word[:-1] + "i"
    return word[:-1] if word.endswith("e") and len(word) > _SHORTEST else word
