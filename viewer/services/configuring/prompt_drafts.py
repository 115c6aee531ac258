"""Custom prompts while they are being edited: the run's own, and variants."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.studies.prompts import Prompts, check_variant_name

Texts = Mapping[str, str]
_BROUGHT: Final = "the data set's own"


@dataclass(frozen=True)
class PromptDrafts:
    """The texts that differ from the built-in prompts of a study.

    ``own`` are the run's, by prompt name; ``variants`` those of each variant, if they
    differ from the run's. The variant "" is the run itself.
    """

    prompts: Prompts
    own: Texts = field(default_factory=dict)
    variants: Mapping[str, Texts] = field(default_factory=dict)

    def with_brought(self, texts: Texts) -> "PromptDrafts":
        """Return the drafts of a data set that brings prompts of its own."""
        known = dict(self.prompts.known)
        for name, text in texts.items():
            known[name] = replace(known[name], read=str(text).__str__, source=_BROUGHT)
        return replace(self, prompts=replace(self.prompts, known=known))

    def text(self, name: str, variant: str = "") -> str:
        """Return the text that a prompt has in a variant."""
        return self.texts(variant).get(name, self.prompts.known[name].text)

    def texts(self, variant: str = "") -> Texts:
        """Return every custom text of a variant."""
        return {**self.own, **self.variants.get(variant, {})}

    def is_changed(self, name: str, variant: str = "") -> bool:
        """Tell whether a variant has a text of its own for a prompt."""
        return name in (self.variants[variant] if variant else self.own)

    def with_text(self, name: str, variant: str, text: str) -> "PromptDrafts":
        """Return the drafts with a new text; a text that changes nothing is dropped."""
        before = self.own.get(name) if variant else None
        usual = self.prompts.known[name].text if before is None else before
        texts = dict(self.variants[variant] if variant else self.own)
        texts.pop(name, None)
        if text != usual:
            texts[name] = text
        if not variant:
            return replace(self, own=texts)
        return replace(self, variants={**self.variants, variant: texts})

    def with_variant(self, variant: str) -> "PromptDrafts":
        """Return the drafts with another variant; raises for a bad or taken name."""
        check_variant_name(variant)
        if variant in self.variants:
            raise WrongUseError(
                f"There is a variant '{variant}' already.", "Choose another name."
            )
        return replace(self, variants={**self.variants, variant: {}})

    def without_variant(self, variant: str) -> "PromptDrafts":
        """Return the drafts without a variant."""
        rest = {name: of for name, of in self.variants.items() if name != variant}
        return replace(self, variants=rest)

    def problem(self) -> str:
        """Return why the drafts cannot be used, "" if they can."""
        for variant in ("", *self.variants):
            for name in self.variants[variant] if variant else self.own:
                if wrong := self.problem_of(name, variant):
                    return wrong
        same = next((name for name, of in self.variants.items() if not of), "")
        return f"The variant '{same}' changes no prompt yet." if same else ""

    def problem_of(self, name: str, variant: str = "") -> str:
        """Return the problem with the text of a prompt, "" for none."""
        try:
            self.prompts.known[name].check(self.text(name, variant))
        except WrongUseError as error:
            return str(error)
        return ""

    def params(self) -> dict[str, object]:
        """Return the drafts as parameters of a study."""
        found: dict[str, object] = {}
        if self.own:
            found["prompts"] = dict(self.own)
        if self.variants:
            found["prompt_variants"] = {n: dict(of) for n, of in self.variants.items()}
        return found

    @property
    def words(self) -> str:
        """How many prompts and variants are custom, in short."""
        parts = [f"{len(self.own)} custom"] if self.own else []
        if self.variants:
            n = len(self.variants)
            parts.append(f"{n} variant" if n == 1 else f"{n} variants")
        return ", ".join(parts) or "built-in"


def drafts_of(prompts: Prompts, params: Mapping[str, object]) -> PromptDrafts:
    """Return the drafts in the parameters of a study."""
    own, variants = (params.get(name) for name in ("prompts", "prompt_variants"))
    return PromptDrafts(
        prompts,
        dict(own) if isinstance(own, Mapping) else {},
        {str(name): dict(of) for name, of in variants.items()}
        if isinstance(variants, Mapping)
        else {},
    )
