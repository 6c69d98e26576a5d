"""The outputs of many languages, checked in any number of processes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checks.test_checker import CLEAN, SOURCE

from polyjudge import register
from polyjudge.checks.accepted import AcceptedFinding, AcceptedFindings, fingerprint
from polyjudge.checks.checker import TextChecker, checked_output
from polyjudge.checks.many_texts import ManyTexts
from polyjudge.checks.policy import check_policy
from polyjudge.languages.table import language_table
from polyjudge.plugins import PLUGINS
from polyjudge.records.findings import Finding
from polyjudge.records.translation import LanguageResult, PromptResult

TABLE = language_table()
TEXTS = [
    *CLEAN.values(),
    "",
    "OK",
    "Nein",
    "Ja, 2",
    SOURCE,
    "Sure! Here is the translation: 42",
    "la la la la la la la la",
]
TAGS = ["de", "es", "hi", "ja", "ar", "en", "xx-unknown"]
OUTPUTS = st.builds(
    PromptResult, source_text=st.sampled_from([SOURCE, "", "Yes"]), generated_output=st.sampled_from(TEXTS)
)
LANGUAGES = st.lists(
    st.builds(
        LanguageResult,
        language_name=st.sampled_from(TAGS),
        language_code=st.sampled_from(TAGS),
        prompts=st.lists(OUTPUTS, max_size=30).map(tuple),
    ),
    max_size=6,
)


def checked_one_by_one(languages, checker):
    return [(each, checker.check_outputs(each)) for each in languages]


def checked(languages, checker, **how):
    return [(each, list(checks)) for each, checks in ManyTexts(checker, **how).checked(iter(languages))]


@settings(max_examples=40, deadline=None)
@given(languages=LANGUAGES, at_once=st.integers(1, 40))
def test_chunks_of_any_size_give_what_each_language_gives_by_itself(languages, at_once):
    checker = TextChecker(TABLE)

    assert checked(languages, checker, at_once=at_once) == checked_one_by_one(languages, checker)


@pytest.mark.parametrize("jobs", [2, 3])
def test_any_number_of_processes_gives_what_one_gives(jobs):
    texts = [PromptResult(source_text=SOURCE, generated_output=each) for each in TEXTS * 4]
    languages = [
        LanguageResult(language_name=tag, language_code=tag, prompts=tuple(texts[place:]))
        for place, tag in enumerate(TAGS)
    ]
    checker = TextChecker(TABLE)

    assert checked(languages, checker, jobs=jobs, few=60, at_once=40) == checked_one_by_one(languages, checker)


def test_accepted_findings_count_as_used_in_the_process_of_the_command():
    output = PromptResult(source_text=SOURCE, generated_output="Sure! Here is the translation: 42")
    german = TABLE.find("de")
    text = checked_output(output, german)
    [first, *_] = TextChecker(TABLE).check_text(text).problems
    accepted = AcceptedFindings([AcceptedFinding(finding=fingerprint(first, text), reason="known")])
    policy = check_policy(accepted=accepted)
    language = LanguageResult(language_name="German", language_code="de", prompts=(output,) * 4)

    [(_, checks)] = checked([language], TextChecker(TABLE, policy=policy), jobs=2, few=0, at_once=2)

    assert [each.accepted for each in checks] == [(first,)] * 4
    assert accepted.unused() == []


def test_checks_that_were_registered_from_python_run_too():
    @register.check("shouting")
    def shouting(text):
        if text.text.isupper():
            yield Finding("shouting", "warn", "All in capital letters.")

    try:
        language = LanguageResult(
            language_name="German", language_code="de", prompts=(PromptResult(generated_output="GUTEN TAG ALLE"),) * 3
        )
        [(_, checks)] = checked([language], TextChecker(TABLE), jobs=2, few=0, at_once=1)
        assert all("shouting" in [each.kind for each in check.problems] for check in checks)
    finally:
        PLUGINS.remove("checks", "shouting")


def test_languages_are_read_as_their_outputs_are_checked():
    read = []

    def languages():
        for number in range(100):
            read.append(number)
            yield LanguageResult(
                language_name="German", language_code="de", prompts=(PromptResult(generated_output="Guten Tag"),) * 5
            )

    found = ManyTexts(TextChecker(TABLE), at_once=10).checked(languages())
    next(found)

    assert len(read) <= 4
