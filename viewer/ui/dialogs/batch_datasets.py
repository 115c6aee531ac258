"""The data sets of the batch page: suitable ones first, others greyed."""

from collections.abc import Mapping

from viewer.domain.escapes import visible
from viewer.ui.widgets.long_choice import LongChoice
from viewer.ui.widgets.named_choice import NamedChoice


class DatasetChoice(NamedChoice, LongChoice):
    """Data sets to choose from; one that does not suit says why and cannot be."""

    def offer_suiting(self, lacking: Mapping[str, str], chosen: str) -> None:
        """Offer data sets in order, each with what it lacks; nothing is emitted.

        ``chosen`` is shown even where it does not suit; "" shows none.
        """
        self.blockSignals(True)
        self.clear()
        for name, lack in lacking.items():
            self.addItem(visible(f"{name} – {lack}" if lack else name), name)
            if lack:
                self.grey(self.count() - 1)
        self.setPlaceholderText("none suits the study" if lacking else "")
        self.setCurrentIndex(self.findData(chosen))
        self.blockSignals(False)
