"""Reviews to render: one with findings in many scripts, and any review that records allow."""

from functools import partial

from hypothesis import strategies as st
from msgspec.structs import fields

from polyjudge.records.messages import Review, ReviewedLanguage, ReviewFinding, UnjudgedMessage

HOSTILE = [
    "@octocat and @github/team, see #12, GH-34 and https://evil.example/ or www.evil.example",
    "![x](https://evil.example/i.png) [click](javascript:alert(1)) <img src=x onerror=alert(1)> :tada:",
    "</code></td></table><script>document.title='owned'</script> <!-- --> {{ 7 * 7 }} `a` **b** | c",
    "a\r\n::error::injected\r\n##[error]injected ]]> % , :",
    "safe \u202etxt.exe\u202c \u2066x\u2069 \x1b[31m\x00\x07\x85 end",
]


def finding(file, line, key, language, kind, severity, source, translation, place=None, **more):
    start = translation.index(place) if place else None
    return ReviewFinding(
        file=file,
        line=line,
        key=key,
        language=language,
        check=more.pop("check", "placeholders"),
        kind=kind,
        severity=severity,
        message=more.pop("message", f"{kind} in {language}."),
        source=source,
        translation=translation,
        start=start,
        end=start + len(place) if place else None,
        fingerprint=more.pop("fingerprint", f"{line:012x}"),
        **more,
    )


def language(tag, name, messages=100, **counts):
    return ReviewedLanguage(language=tag, name=name, files=1, messages=messages, **counts)


FINDINGS = (
    finding(
        *("locale/ar/app.po", 12, "greeting", "ar", "placeholder_lost", "fail"),
        *("Hello {name}, welcome back!", "مرحبًا {اسم}، أهلاً بعودتك!!", "{اسم}"),
        message="The placeholder {name} is missing.",
        matters="The program shows a wrong text.",
        record="right in 98% of cases on WMT24",
    ),
    finding(
        *("locale/ar/app.po", 12, "greeting", "ar", "doubled_punctuation", "warn"),
        *("Hello {name}, welcome back!", "مرحبًا {اسم}، أهلاً بعودتك!!", "!!"),
        fingerprint="0c84ec41439a",
    ),
    finding("locale/ar/app.po", 40, "files", "ar", "plural_missing", "fail", "%d files", "", plural="few"),
    finding(
        *("res/values-th/strings.xml", 7, "sign_out", "th", "meaning", "fail", "Sign out", "ลงชื่อเข้าใช้", "เข้า"),
        check="meaning",
        judge="anthropic/claude-opus-4",
        suggestion="ออกจากระบบ",
    ),
    finding(
        *("lib/app_hi.arb", 9, "warrior", "hi", "mixed_script", "info", "Warrior 👩🏽‍🚀", "क्षत्रिय 👩🏽‍🚀", "\u0937"),
    ),
    finding(
        *("lib/app_ja.arb", 3, "title", "ja", "untranslated_word", "warn"),
        *("Settings of the app", "アプリの Settings 一覧", "Settings"),
    ),
)
REVIEW = Review(
    findings=FINDINGS,
    languages=(
        language("ar", "Arabic", fails=2, warnings=1, judged=98, unjudged=2),
        language("da", "Danish", judged=100),
        language("hi", "Hindi", infos=1, judged=100),
        language("ja", "Japanese", warnings=1, accepted=1, judged=100),
        language("th", "Thai", fails=1, untranslated=4, judged=100),
    ),
    accepted=(
        finding(
            *("lib/app_ja.arb", 30, "brand", "ja", "untranslated_word", "warn", "polyjudge", "polyjudge"),
            reason="The brand is written in Latin letters.",
        ),
    ),
    unjudged=tuple(
        UnjudgedMessage(file="locale/ar/app.po", line=77 + number, key="x", language="ar", reason="the model refused")
        for number in range(2)
    ),
    since="HEAD^1",
    judge="anthropic/claude-opus-4",
    trust=("reliable in Japanese; not measured in Arabic",),
    skipped=("locale/xx/app.po: the language xx is not in the table",),
    source_language="en",
)


def hostile_review(texts=HOSTILE):
    """Return a review in which every field that a file or a judge decides is one of these texts."""
    found, unjudged = [], []
    for number, text in enumerate(texts):
        about = dict.fromkeys(("file", "key", "kind", "check", "message", "source", "matters", "record", "judge"), text)
        about |= dict.fromkeys(("suggestion", "reason", "plural", "fingerprint"), text)
        found.append(
            ReviewFinding(**about, translation=text, line=number, language="ar", severity="fail", start=1, end=3)
        )
        unjudged.append(UnjudgedMessage(file=text, line=1, key=text, language=text, reason=text))
    return Review(
        findings=tuple(found),
        languages=(language("ar", texts[0], fails=len(texts), unjudged=1),),
        accepted=tuple(found),
        unjudged=tuple(unjudged),
        since=texts[-1],
        judge=texts[0],
        trust=tuple(texts),
        skipped=tuple(texts),
    )


def any_review(texts, random, found, languages):
    """Return a review whose texts and numbers are chosen among those given."""
    text, place = partial(random.choice, [*texts, *HOSTILE, ""]), partial(random.choice, [None, *range(70)])
    number = partial(random.choice, [0, 1, 12, 10**6])

    def one():
        names = [field.name for field in fields(ReviewFinding) if field.type is str]
        given = {name: text() for name in names}
        severity = random.choice(["fail", "warn", "info"])
        return ReviewFinding(**given, severity=severity, line=number(), start=place(), end=place())

    def row():
        counts = {field.name: number() for field in fields(ReviewedLanguage) if field.type is int}
        return ReviewedLanguage(language=text(), name=text(), **counts)

    unjudged = [UnjudgedMessage(file=text(), line=1, key=text(), language=text(), reason=text()) for _ in range(found)]
    return Review(
        findings=tuple(one() for _ in range(found)),
        languages=tuple(row() for _ in range(languages)),
        accepted=tuple(one() for _ in range(languages)),
        unjudged=tuple(unjudged),
        trust=(text(),),
        skipped=(text(),),
        since=text(),
        judge=text(),
        source_language=random.choice(["en", text()]),
        fail_on=random.choice(["fail", "warn", "info", "never"]),
    )


_TEXTS = st.lists(st.text(max_size=60), max_size=4)
REVIEWS = st.builds(any_review, _TEXTS, st.randoms(use_true_random=False), st.integers(0, 8), st.integers(0, 3))
