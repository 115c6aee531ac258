"""A notice is about an image or a file, or about the data set as a whole."""

from viewer.domain.case import Notice


def test_that_a_notice_about_all_images_stands_under_the_name_of_none() -> None:
    alone = Notice("unreadable", "film01.png", "It is empty.")
    assert alone.sentence == "film01.png: It is empty."
    whole = Notice("unknown_patient", "", "15 images say nothing about the patient.")
    assert whole.sentence == "15 images say nothing about the patient."
