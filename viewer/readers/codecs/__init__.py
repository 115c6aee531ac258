"""Headers of codestreams, in whatever file they are embedded."""
