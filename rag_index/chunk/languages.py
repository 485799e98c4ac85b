"""The language of a text: its script, then a vote of frequent short words."""

from __future__ import annotations

import re

from rag_index.errors import UnknownNameError

PUNKT = {
    "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "et": "estonian", "fi": "finnish", "fr": "french", "it": "italian", "ml": "malayalam", "nl": "dutch",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ru": "russian", "sl": "slovene", "sv": "swedish",
    "tr": "turkish",
}  # fmt: skip
"""ISO 639-1 code -> Punkt model."""

UNSPACED = ("ja", "zh", "ko", "th")
"""Languages whose sentences are found by their own stops; Punkt's English rules serve Latin words in them."""

SAMPLE = 20_000
"""Code points that are looked at: more never changed an answer on the texts of the tests."""

_VOTES, _LEAD = 1.5, 0.4
"""Votes that a language needs before it is believed, and by how many it must lead."""

STOP_WORDS = {
    "cs": (
        "že aby jako není byl která které který jsou jsem ale nebo pro při však také jeho podle až už být jen mezi "
        "před se na si ve ze po od do za tak jak je bylo byla"
    ),
    "da": (
        "og ikke af hvad til er det en et den der som på med for fra jeg vi har var blev også efter eller mellem "
        "nogle meget men hun ham være kan skal at vil om når over"
    ),
    "de": (
        "der die das und ist nicht ein eine mit auf für von dem den des zu im auch sich wird werden wurde bei oder "
        "aus nach wie über einer einen sind war hat als dass kann ich wir sie es am "
        "was wer wo wann warum welche welcher welches wurden diese noch"
    ),
    "el": "και το τα του της την των στο στη στην από για με που είναι δεν θα να οι ένα μια ως αλλά",
    "en": (
        "the of and to in is that for it was on as with are be this by at from or have not but they which you his "
        "her an were been has their will would can if when there more no we all "
        "what who how did does where why many much into during its"
    ),
    "es": (
        "el los las del que y en por con para una un es su al lo como más pero sus le ha este esta son fue ser o "
        "entre cuando muy sin sobre también me hasta hay donde quien desde todo se la "
        "qué cuál cuáles cómo quién quiénes cuándo dónde cuántos cuántas fue fueron"
    ),
    "et": (
        "ja ei on see et oli kui ka aga mis ning oma või siis need kes nad tema kuid pärast võib olla nagu veel "
        "ainult selle seda mida"
    ),
    "fi": (
        "ja ei on se että oli kun myös mutta mikä joka ovat hän tai sen niin kuin sekä ole vain jos tämä joka "
        "mukaan vuonna jälkeen olla ollut voi"
    ),
    "fr": (
        "le la les des et est dans pour que qui une un du en par sur au avec pas plus ce cette sont il elle nous "
        "vous ne se aux ou mais être ont été leur ses son sa comme tout si à "
        "quel quelle quels quelles quand comment où pourquoi combien cela nos je"
    ),
    "it": (
        "il la che di e per una un con non del della sono è gli le da in nel alla dei come più anche al si ma "
        "questo questa delle ha era o essere suo loro dal nella lo ci "
        "quale quali chi dove quando perché quanto quanti"
    ),
    "nl": (
        "de het een en van is niet dat op te in met voor zijn aan er ook als bij door maar naar om uit wordt werd "
        "deze dit die wel nog kan hebben heeft of over zich worden geen"
    ),
    "no": (
        "og ikke av hva til er det en et den som på med for fra jeg vi har var ble også etter eller mellom noen "
        "mye men hun ham være kan skal å vil om når over seg dette"
    ),
    "pl": (
        "i w nie na jest się że do z to jak ale od za po czy przez oraz dla tym był była było są który która które "
        "jego być tylko już może ich lub tego"
    ),
    "pt": (
        "o a os as de do da dos das que e em um uma para com não por é se na no mais como mas foi ao ele seu sua "
        "ou ser quando muito já está eu também só pelo pela até isso entre são "
        "qual quais quem onde porquê quanto quantos após numa nos nas"
    ),
    "ru": (
        "и в не на что он как это по но из от за его она для так же то все был была было были или если при бы "
        "только уже может мы они их"
    ),
    "sl": (
        "in je da se ki na za so ne pa v z tudi kot po ali bi od s pri ni ko bil bila bilo lahko še samo svoj med "
        "ter če zaradi kaj"
    ),
    "sv": (
        "och inte av vad till är det en ett den som på med för från jag vi har var blev också efter eller mellan "
        "några mycket men hon honom vara kan ska att vill om när över sig detta"
    ),
    "tr": (
        "ve bir bu da de için ile çok ama gibi daha olan olarak ne değil var en kadar sonra her ya ki olduğu "
        "tarafından mi o ancak"
    ),
}
"""ISO 639-1 code -> some of its most frequent words; words of several languages vote for each of them."""

_SCRIPTS = (
    ("ja", re.compile(r"[\u3041-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7a3]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ml", re.compile(r"[\u0d00-\u0d7f]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0620-\u06ff]")),
    ("he", re.compile(r"[\u05d0-\u05ea]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e01-\u0e5b]")),
)
_NOT_LATIN = re.compile(r"[\u0370-\u1dff\u2e80-\uffef]")
_WORD = re.compile(r"[^\W\d_]+")
_WEIGHTS: dict[str, tuple[tuple[str, float], ...]] = {}


def check_language(language: str) -> None:
    """Raise UnknownNameError where there are no sentence rules for `language`; imports nothing."""
    known = {*PUNKT, *UNSPACED, "auto"}
    if language not in known:
        raise UnknownNameError.named("language", language, known)


def detect_language(text: str) -> str:
    """Return the ISO 639-1 code of the language of `text`, or "" where the signs are too few.

    Looks at the first 20,000 code points: a script that only one of the known languages uses decides (kana before
    Han: Japanese is written with both); Latin text goes to the language whose frequent words occur most, a word
    that several languages share counting for less.
    """
    sample = text[:SAMPLE]
    script = _by_script(sample)
    return script or _by_words(sample)


def _by_script(sample: str) -> str:
    if sample.isascii() or not _NOT_LATIN.search(sample):
        return ""
    letters = sum(map(len, _WORD.findall(sample)))
    for language, pattern in _SCRIPTS:
        count = len(pattern.findall(sample))
        if language == "ja" and count and count + len(_SCRIPTS[2][1].findall(sample)) > letters * 0.3:
            # Kana in passing (a name, a mark) does not make Chinese Japanese.
            return "ja" if count > letters * 0.1 else "zh"
        if language != "ja" and count > letters * 0.3:
            return language
    return ""


def _by_words(sample: str) -> str:
    weights = _weights()
    votes: dict[str, float] = {}
    for word in _WORD.findall(sample.lower()):
        for language, weight in weights.get(word, ()):
            votes[language] = votes.get(language, 0.0) + weight
    ranked = sorted(votes.items(), key=lambda item: (-item[1], item[0]))
    if not ranked or ranked[0][1] < _VOTES:
        return ""
    lead = ranked[0][1] - ranked[1][1] if len(ranked) > 1 else _VOTES
    return ranked[0][0] if lead >= _LEAD else ""


def _weights() -> dict[str, tuple[tuple[str, float], ...]]:
    if not _WEIGHTS:
        owners: dict[str, list[str]] = {}
        for language, words in STOP_WORDS.items():
            for word in set(words.split()):
                owners.setdefault(word, []).append(language)
        for word, languages in owners.items():
            _WEIGHTS[word] = tuple((language, 1 / len(languages)) for language in sorted(languages))
    return _WEIGHTS
