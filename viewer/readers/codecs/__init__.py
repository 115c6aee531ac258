"""What codestreams say of themselves, in whatever file they lie."""
