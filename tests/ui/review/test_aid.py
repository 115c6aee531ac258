"""The choice of the model whose answers readers see."""

from pytestqt.qtbot import QtBot

from viewer.ui.panels.review.aid import AidChoice


def test_that_each_sentence_takes_only_the_height_of_its_lines(qtbot: QtBot) -> None:
    choice = AidChoice()
    qtbot.addWidget(choice)
    choice.use.setChecked(True)
    choice.resize(670, choice.heightForWidth(670))
    choice.show()
    for about in (choice.about_model, choice.about_arm, choice.about_wrong):
        assert about.height() == about.heightForWidth(about.width())
