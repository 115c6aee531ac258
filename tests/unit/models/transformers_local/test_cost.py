import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from tests.helpers.requests import ScriptedClock, request
from viewer.domain.interpretability import Highlight
from viewer.domain.reference import Mask
from viewer.models.transformers_local import adapter, answering, engine, memory
from viewer.models.transformers_local.adapter import TransformersLocal


@pytest.mark.statement("E002-13")
def test_that_every_answer_tells_its_time_and_memory(
    model_of: Callable[[str], TransformersLocal],
) -> None:
    model, plain = model_of("gemma3"), request()
    mask = Mask.of_array(np.ones((32, 32), dtype=np.bool_))
    both = [plain, replace(plain, highlight=Highlight(mask))]
    replies = [model.read(model.generate(asked)) for asked in both for _ in range(3)]
    peaks = [reply.peak_memory_bytes for reply in replies]
    assert all(peak is not None and peak > 10**6 for peak in peaks)
    assert all(reply.latency_ms > 0 for reply in replies)
    assert replies[0] == replies[1]  # what an answer cost is no part of it


def test_that_memory_that_nobody_tells_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert memory.peak_bytes("cpu") is None
    assert memory.peak_header(None) == {}
    monkeypatch.setattr(sys, "platform", "darwin")
    in_bytes = memory.peak_bytes("cpu")
    monkeypatch.setattr(sys, "platform", "linux")
    in_kib = memory.peak_bytes("cpu")
    assert in_bytes is not None
    assert in_kib == pytest.approx(in_bytes * 1024, rel=0.2)


@pytest.mark.statement("E002-13")
def test_that_work_and_waiting_for_others_add_up_to_an_answers_latency(
    model_of: Callable[[str], TransformersLocal], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, clock, passes = model_of("gemma3"), ScriptedClock(), list[float]()

    def a_second(work: Callable[..., object]) -> Callable[..., object]:
        def slow(*given: object) -> object:
            clock.pass_(1.0)
            passes.append(1.0)
            return work(*given)

        return slow

    mask = Mask.of_array(np.ones((32, 32), dtype=np.bool_))
    light = replace(request(), highlight=Highlight(mask))
    asked = [request(), light, request(), light, request(), request()]
    model.generate(request())  # loads it
    monkeypatch.setattr(adapter, "time", clock)
    monkeypatch.setattr(adapter, "ask", a_second(answering.ask))
    monkeypatch.setattr(engine, "generate", a_second(engine.generate))
    with ThreadPoolExecutor(len(asked)) as pool:
        replies = [model.read(raw) for raw in pool.map(model.generate, asked)]
    # A pass is one second of the scripted clock: these are sums, not a machine's speed.
    work = [reply.work_ms for reply in replies if reply.work_ms is not None]
    assert len(work) == len(asked)
    assert sum(work) == pytest.approx(1000 * len(passes), abs=len(asked))  # rounded
    latencies = [reply.latency_ms for reply in replies]
    waiting = [whole - own for whole, own in zip(latencies, work, strict=True)]
    assert min(waiting) >= -1  # rounded
    most = 1000 * len(passes)
    assert all(own + waited <= most for own, waited in zip(work, waiting, strict=True))
