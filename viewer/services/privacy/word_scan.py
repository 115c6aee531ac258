"""Scan an item's text for identifying information before it is sent.

A case without a DICOM header has no values to look for, so these are patterns of what
names, dates and numbers of persons look like in English and Chinese (Chen 2026,
appendix E.2). They err on the side of finding too much: a person reads the text and
decides.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Final

from viewer.domain.errors import WordsWaitError
from viewer.domain.item import Item
from viewer.domain.privacy import PixelReview, ReviewDecision

NAME: Final = "a name"
DATE: Final = "a date"
NUMBER: Final = "an identifier of a person or a visit"
ADDRESS: Final = "an address"

_MONTHS: Final = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    "|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY: Final = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH: Final = r"(?:0?[1-9]|1[0-2])"
_YEAR: Final = r"(?:19|20)\d\d"
_SURNAMES: Final = (
    "[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑梁谢宋唐许韩邓冯曹彭曾肖萧田董潘袁蔡蒋余于杜叶程"
    "魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏傅方邹熊白孟秦邱侯江尹薛闫雷龙黎史陶贺毛郝顾龚邵"
    "万覃武钱戴严莫孔向常汤]"
)
_HAN: Final = r"[\u4e00-\u9fff]"
_CAPITALISED: Final = r"[A-Z\u00c0-\u00de](?:['’][A-Z])?[a-z\u00df-\u00ff][\w'’-]*"
_WHOSE: Final = "patient|hospital|record|accession|admission|case|chart|insurance"
_VALUE: Final = r"\s*[:#：]?\s*[A-Za-z]{0,4}-?\d[\w-]{2,}"

_PATTERNS: Final = (
    (
        NAME,
        rf"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Herr|Frau)\b\.?\s+{_CAPITALISED}",
    ),
    (NAME, r"(?i:\b(?:patient|full|first|last|family|given)(?:'s)? name\b)\W{1,3}\w"),
    (NAME, r"\b(?i:(?:sur)?name)\s*[:：]\s*\w"),
    # 某, "a certain", stands for a name that was already removed.
    (NAME, rf"姓名\W{{0,2}}(?!某){_HAN}"),
    (NAME, rf"(?:患者|病人|患儿){_SURNAMES}(?!某){_HAN}{{1,2}}(?=[\s,，、(（]*[男女])"),
    (NAME, rf"(?<!{_HAN}){_SURNAMES}(?!某){_HAN}{{0,2}}(?:医生|医师|大夫|教授)"),
    # The same sign twice (\1): 2.5-10 is a range and no date.
    (DATE, rf"(?<!\d){_YEAR}([-/.]){_MONTH}\1{_DAY}(?!\d)"),
    (DATE, rf"(?<![\d.]){_DAY}([-/.]){_MONTH}\1(?:{_YEAR}|\d\d)(?!\d|[./-]\d)"),
    (DATE, rf"(?<![\d.]){_MONTH}([-/.]){_DAY}\1(?:{_YEAR}|\d\d)(?!\d|[./-]\d)"),
    (DATE, rf"\b{_MONTHS}\b\.?\s+{_DAY}(?:st|nd|rd|th)?\b(?!\.\d|\s*%)"),
    (DATE, rf"\b{_DAY}(?:st|nd|rd|th)?\.?\s+(?:of\s+)?{_MONTHS}\b"),
    (DATE, rf"(?<!\d){_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\d)"),
    (DATE, rf"(?<!\d){_MONTH}\s*月\s*{_DAY}\s*[日号]"),
    (DATE, r"(?i:\bdate of birth\b|\bDOB\b)\W{1,3}\d|出生日期\W{0,2}\d"),
    (NUMBER, rf"\b(?i:MRN|SSN|NHS|medical record|accession|passport)\b(?:{_VALUE})"),
    (NUMBER, rf"\b(?i:{_WHOSE})\s+(?i:ID|nr\b\.?|no\b\.?|number){_VALUE}"),
    (
        NUMBER,
        rf"(?:住院|病历|门诊|病案|检查|登记|医保|身份证|就诊卡)(?:号码?|编号){_VALUE}",
    ),
    # A Chinese resident's number, which may end in X; a US social security number.
    (NUMBER, r"(?<!\d)\d{17}[\dXx](?!\d)|(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)"),
    (ADDRESS, r"[\w.+-]+@[\w-]+\.\w"),
    (ADDRESS, r"(?i:\b(?:phone|telephone|tel|fax|mobile)\b)\W{0,3}\+?\d[\d ()/.-]{5,}"),
    (
        ADDRESS,
        r"(?:电话|手机|联系方式)(?:号码?)?\W{0,2}\d{6,}|(?<!\d)1[3-9]\d{9}(?!\d)",
    ),
    # A North American telephone number.
    (ADDRESS, r"(?<![\d-])\(?\d{3}\)?[ .-]\d{3}[.-]\d{4}(?![\d-])"),
    (ADDRESS, rf"\b\d{{1,5}} {_CAPITALISED} (?:Street|St\.|Avenue|Ave\.|Road|Lane)"),
    (ADDRESS, r"(?:住址|地址|家住)\W{0,2}[\u4e00-\u9fff]"),
)
_LONGEST_VALUE: Final = 12
"""Characters of a value that no question tells as it is, such as a date."""
_COMPILED: Final = tuple((kind, re.compile(pattern)) for kind, pattern in _PATTERNS)


def named_in(text: str) -> tuple[str, ...]:
    """Return the kinds of personal data in a text, never the data."""
    found = (kind for kind, pattern in _COMPILED if pattern.search(text))
    return tuple(dict.fromkeys(found))


def found_in(text: str) -> tuple[str, ...]:
    """Return the passages found, for the person who reads them."""
    found = (m[0] for _, pattern in _COMPILED for m in pattern.finditer(text))
    return tuple(dict.fromkeys(found))


def marked_in(text: str) -> tuple[tuple[str, bool], ...]:
    """Return a text split into pieces, each with whether it was found."""
    inside = [False] * len(text)
    for _, pattern in _COMPILED:
        for match in pattern.finditer(text):
            inside[match.start() : match.end()] = [True] * len(match[0])
    runs = groupby(zip(text, inside, strict=True), key=itemgetter(1))
    return tuple(("".join(letter for letter, _ in run), found) for found, run in runs)


def words_of(item: Item, told: str | None = None) -> tuple[str, ...]:
    """Return an item's text: all its facts, and the parts of its truth that are sent.

    Names of its images are not included. ``told`` is the text of a question; a judge
    gets the truth of an item, a model never does. Without it, everything that may be
    sent counts: texts, but not bare values such as the date of a study.
    """
    beside = (item.key, *_texts(item.reference))
    if told is None:
        truth = [text for text in beside if len(text) > _LONGEST_VALUE]
    else:
        truth = [text for text in beside if text in told]
    return tuple(x for x in (*_texts(item.facts), *truth) if x not in item.images)


def words_sha256(item: Item) -> str:
    """Return the hash under which a decision about an item's text is stored."""
    # No text contains a zero, so two lists of texts never hash alike.
    words = "\0".join(words_of(item))
    return hashlib.sha256(f"words\0{words}".encode()).hexdigest()


def check_words(item: Item, told: str, reviews: Mapping[str, PixelReview]) -> None:
    """Raise ``WordsWaitError`` if an item's text keeps its question here.

    A person's decision about exactly this text applies; without one, text that may
    identify somebody has to be read first.
    """
    review = reviews.get(words_sha256(item))
    if review is None:
        found = named_in("\n".join(words_of(item, told)))
        why = f"its item's text seems to contain {' and '.join(found)}" if found else ""
    else:
        blocked = review.decision is ReviewDecision.BLOCKED
        why = "a person decided that its item's text may not leave" if blocked else ""
    if why:
        raise WordsWaitError(
            f"A question was not sent: {why}.",
            "Read it in the window's Review words… or with overread review DATASET "
            "--words, and remove what identifies a person, or decide there that "
            "nothing does.",
        )


def _texts(value: object) -> Iterator[str]:
    """Yield every text of plain JSON values, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
