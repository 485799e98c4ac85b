"""Abbreviations that Punkt's models lack, the final stop left off; words that also end sentences are not here."""

from __future__ import annotations

EXTRA: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": (
            "e.g i.e cf al etc fig figs eq eqs vol eds pp approx dept est resp ca viz incl m.d ph.d b.a m.a "
            "b.sc m.sc a.k.a capt col gen lt sgt cpl gov tsp tbsp tel jan feb mar apr jun jul aug"
        ),
        "fr": (
            "mme mmes mlle mlles p.ex cf chap fig éd vol pp dr me st ste av tél n.b c.-à-d réf etc cap "
            "gén col lt cdt cie janv févr avr juil sept oct nov déc boul bd"
        ),
        "pt": (
            "sr sra srs sras dr dra drs dras prof profa profª pág págs p.ex arts fig cap vol núm nº av exmo exma "
            "tel obs ltda sto sta eng etc aprox gen cel ten jan fev abr jun jul ago nov dez cia cf"
        ),
        "es": (
            "sr sra sres dr dra ud uds pág págs p.ej fig cap vol núm av tel etc aprox gral cnel prof ing cía "
            "ene feb abr jun jul ago sept oct nov dic"
        ),
        "de": (
            "z.b d.h u.a usw bzw ca vgl nr abb bd evtl ggf inkl s.o s.u str dr prof hr fr jan feb aug sept okt nov dez"
        ),
        "it": "sig sigg dott prof pag pagg art fig cap vol ecc es p.es avv ing gen col genn febbr sett ott nov dic",
        "nl": "bijv d.w.z enz nr blz art dhr mevr drs ir prof jan feb aug sept okt nov dec",
    }.items()
}

BEFORE_NUMBERS = frozenset((
    "no", "nos", "nr", "n", "fig", "figs", "art", "arts", "p", "pp", "pág", "págs", "pag", "pagg", "ch", "chap",
    "cap", "vol", "eq", "sec", "núm", "nº", "abb", "bd", "§", "approx", "aprox", "env", "ca",
))  # fmt: skip
"""Words that are abbreviations where a number follows: "No. 5", "art. 12"; else "no." may end a sentence."""

TITLES: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "mr mrs ms messrs dr prof sgt capt cpl col gen lt maj rev gov sen rep",
        "fr": "mme mmes mlle mlles mm dr prof me mgr cap gén cdt",
        "pt": "sr sra srs sras dr dra drs dras prof profa eng exmo exma gen cel cap",
        "es": "sr sra sres srta dr dra dña prof ing gral cnel",
        "de": "hr fr dr prof",
        "it": "sig sigg dott prof avv ing",
        "nl": "dhr mevr dr prof ir drs",
    }.items()
}
"""Titles before a name: no sentence ends behind them, whatever the name may mean elsewhere ("Sgt. Miles")."""
