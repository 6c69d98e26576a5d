"""The properties of every perturbation hold in every script of the language table, also without a sample."""

import pytest

from polyjudge.calibration.edits import EditContext
from polyjudge.calibration.perturbations import CONTROL_TYPES, PERTURBATION_TYPES, distance, perturbed_versions
from polyjudge.languages.table import language_table

SEVERITIES = [0, 0.1, 0.25, 0.5, 0.75, 1]
LANGUAGES = {language.scripts[0]: language for language in reversed(list(language_table()))}
"""One language for each script."""


@pytest.mark.parametrize("script", LANGUAGES)
def test_the_distance_rises_with_the_severity(script):
    language = LANGUAGES[script]
    words = language.native_name.replace("(", "").replace(")", "")
    text = f"{words} 25 {words}, {words}. {words} {words[::1]} {words}!"
    around = EditContext(language.tag, "Twenty-five people read it. It was good!", words * 3, (f"{words} {words} 7.",))

    for kind in (*PERTURBATION_TYPES, *CONTROL_TYPES):
        versions = perturbed_versions(text, kind, SEVERITIES, 3, around)
        distances = [distance(text, version) for version in versions]

        assert versions[0] == text, kind
        assert distances == sorted(distances), (kind, versions)
        assert versions == perturbed_versions(text, kind, SEVERITIES, 3, around)
