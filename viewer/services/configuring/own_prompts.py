"""The prompts of a study: those in a study file, and the built-in ones."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.studies.catalog import study_named
from viewer.studies.prompts import HasPrompts, Prompt, Prompts, varied
from viewer.studies.study import Study
from viewer.writers.toml import toml_text

_VARIANTS: Final = "variants"


def read_prompts(table: Mapping[str, object], path: Path) -> dict[str, object]:
    """Return a study file's ``[prompts]`` as parameters, with its files read.

    ``path`` is the study file, to whose folder other files are relative.
    """
    own = {name: text for name, text in table.items() if name != _VARIANTS}
    found: dict[str, object] = {"prompts": _texts(own, path)}
    if _VARIANTS in table:
        found["prompt_variants"] = {
            name: _texts(texts, path)
            for name, texts in _tables(table[_VARIANTS], path).items()
        }
    return found


def prompts_table(prompts: Any, variants: Any) -> dict[str, object]:  # noqa: ANN401 - plain values
    """Return the ``[prompts]`` table that gives these parameters."""
    return {**prompts, **({_VARIANTS: variants} if variants else {})}


def _tables(variants: object, path: Path) -> Mapping[str, Mapping[str, object]]:
    if isinstance(variants, dict) and all(
        isinstance(one, dict) for one in variants.values()
    ):
        return variants
    raise WrongUseError(
        f"'prompts.variants' in {path.name} must be tables of texts.",
        "Write for example [prompts.variants.short] above them.",
    )


def _texts(table: Mapping[str, object], path: Path) -> dict[str, str]:
    return {name: _text(name, text, path) for name, text in table.items()}


def check_variants(study: Study, params: Any) -> None:  # noqa: ANN401 - the study's own type
    """Raise for a variant equal to the run itself, or if readers grade the study."""
    first, *others = varied(params).items()
    for name, one in others:
        if one.prompts == first[1].prompts:
            raise WrongUseError(
                f"The prompt variant '{name}' changes no text.",
                "Change one in it, or leave it out.",
            )
    if others and study.words.graded:
        raise WrongUseError(
            f"The study '{study.name}' is graded by readers, who cannot tell variants "
            "of its prompts apart.",
            "Plan a run of its own for each variant.",
        )


def _text(name: str, text: object, path: Path) -> str:
    match text:
        case str():
            return text.removesuffix("\n")
        case {"file": str(file), **others} if not others:
            return _read(name, path.absolute().parent / file)
    raise WrongUseError(
        f"The prompt '{name}' in {path.name} is neither a text nor a file.",
        f'Write {name} = "text" or {name} = {{file = "path"}}.',
    )


def _read(name: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", "") or "it is not UTF-8"
        raise UnreadableInputError(
            f"The file '{path.name}' of the prompt '{name}' cannot be read ({why}).",
            "Name it from the folder of the study file.",
        ) from error


def prompts_of(study: str) -> Prompts:
    """Return the prompts of a study that can be replaced; raises if there are none."""
    found = study_named(study)
    if isinstance(found, HasPrompts):
        return found.known_prompts
    raise WrongUseError(
        f"The study '{study}' has no prompts that a study file can replace.",
        "Leave out [prompts].",
    )


def prompt_rows(study: str, name: str = "") -> tuple[dict[str, object], ...]:
    """Return the built-in prompts of a study, or one by name, as plain values."""
    known = prompts_of(study)
    wanted = [known.named(name)] if name else known.known.values()
    return tuple(_row(prompt) for prompt in wanted)


def _row(prompt: Prompt) -> dict[str, object]:
    return {
        "name": prompt.name,
        "use": prompt.use,
        "source": prompt.source,
        "required": [list(group) for group in prompt.required],
        "optional": list(prompt.optional),
        "text": prompt.text,
        "sha256": hashlib.sha256(prompt.text.encode()).hexdigest(),
    }


def prompts_text(study: str, name: str = "") -> str:
    """Return the built-in prompts as the table for a study file."""
    known = prompts_of(study)
    wanted = [known.named(name)] if name else list(known.known.values())
    return "\n".join(_lines(wanted))


def _lines(prompts: Sequence[Prompt]) -> Iterator[str]:
    yield "[prompts]"
    for prompt in prompts:
        yield from ("", *(f"# {line}" for line in about(prompt)))
        yield f"{prompt.name} = {toml_text(prompt.text)}"


def about(prompt: Prompt) -> Iterator[str]:
    """Yield a prompt's purpose, its source, and its placeholders."""
    yield f"{prompt.use[:1].upper()}{prompt.use[1:]}."
    yield f"Source: {prompt.source}."
    groups = [" or ".join(map(_braced, group)) for group in prompt.required]
    if groups:
        yield f"Required: {', '.join(groups)}."
    if prompt.optional:
        yield f"Optional: {', '.join(map(_braced, prompt.optional))}."


def _braced(place: str) -> str:
    return f"{{{place}}}"
