"""A study file to start from, with every possible setting, mostly as comments."""

import textwrap
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.domain.plain import plain
from viewer.services.configuring.own_prompts import about
from viewer.studies.catalog import study_named
from viewer.studies.prompts import HasPrompts
from viewer.studies.study import Study
from viewer.writers.files import write_atomically
from viewer.writers.toml import toml_value

_WIDTH: Final = 86
_OWN: Final = ("prompts", "prompt_variants")
"""The parameters that stand in the table [prompts]."""
_MODELS: Final = """\
# Models of your own, beside those that overread models lists: a server, or a model on
# this machine. A key stands in the environment or the keyring, never here.
#[[model]]
#name = "my-server"
#adapter = "openai_api"
#base_url = "http://127.0.0.1:8000/v1"
#model = "name-of-the-model"
#temperature = 0
#api_key_env = "MY_KEY"

#[[model]]
#name = "my-local-model"
#adapter = "transformers_local"
#model = "folder-or-name-on-the-hub"
"""


def new_study_file(study: str) -> str:
    """Return a study file that runs once a data set and models are named."""
    return "\n".join(_lines(study_named(study))) + f"\n{_MODELS}"


def write_new_study_file(study: str, path: Path) -> None:
    """Write :func:`new_study_file`; raises if the file exists."""
    text = new_study_file(study)
    if path.exists():
        raise WrongUseError(
            f"The file '{path.name}' is there already.", "Name another with --out."
        )
    write_atomically(path, text.encode())


def _lines(study: Study) -> Iterator[str]:
    yield from _comment(
        f"{study.title}: a study file for overread run. Name a data set and models; "
        "whatever is left out has the value that stands in its comment."
    )
    yield f"study = {toml_value(study.name)}"
    yield from _comment("One of those that overread cases lists.", "")
    yield 'dataset = ""'
    yield from _comment("Of those that overread models lists, or from below.", "")
    yield "models = []"
    titles = [f"{p} ({study.preset_title(p)})" for p in study.presets()]
    yield from _comment(f"A set of parameters: {', '.join(titles)}.", "")
    yield f"#preset = {toml_value(study.defaults.preset)}"
    yield from _comment("The seed of every random choice.", "")
    yield "#seed = 0"
    yield from _comment("How often each question is asked.", "")
    yield "#repeats = 1"
    yield from _comment("Only the first items; all of them without it.", "")
    yield "#limit = 10"
    yield from _comment("Dollars that the run may cost; it pauses before more.", "")
    yield "#ceiling = 5.00"
    yield from ("", "[params]", *_params(study))
    yield from ("", "[prompts]", *_prompts(study), "")


def _params(study: Study) -> Iterator[str]:
    params = study.read_params(study.defaults.preset, {})
    values = plain(params)
    for one in fields(params):
        if one.name not in _OWN:
            expected = one.metadata["kind"].expected
            yield from _comment(f"{one.metadata['help']} Takes {expected}.", "")
            yield f"#{one.name} = {toml_value(values[one.name])}"


def _prompts(study: Study) -> Iterator[str]:
    if not isinstance(study, HasPrompts):
        return
    yield from _comment(
        'Texts of your own, as NAME = "text" or NAME = {file = "path"}. '
        f"overread prompts {study.name} prints the built-in ones. Tables "
        "[prompts.variants.NAME] ask each item with other texts too. The prompts are:"
    )
    for prompt in study.known_prompts.known.values():
        yield from _comment(" ".join((f"{prompt.name}:", *about(prompt))))


def _comment(text: str, *before: str) -> Iterator[str]:
    """Yield comment lines of a page's width, each after a prefix."""
    yield from before
    yield from (f"# {line}" for line in textwrap.wrap(text, _WIDTH))
