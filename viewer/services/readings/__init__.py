"""Readers' sessions: opening them, showing cases, storing answers, results.

``opening`` opens sessions and lists them; ``cases`` returns what may be shown;
``recording`` stores what a reader does; ``progress`` reports a session's progress;
``reviewing`` and ``agreeing`` return results; ``entering`` makes a reader's answers a
run like a model's; ``mrmc`` writes files for multi-reader analysis.
"""
