from viewer.domain.privacy import how_to_allow


def test_that_only_an_encrypted_endpoint_is_allowed_without_a_warning() -> None:
    assert how_to_allow("https://a.example", "d") == (
        "To allow it, type: overread allow https://a.example --for d"
    )
    said = how_to_allow("http://a.example", "d")
    assert said.endswith("overread allow http://a.example --unencrypted --for d")
    assert "can be read in transit" in said
