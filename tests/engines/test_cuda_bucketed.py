"""The CUDA engine of the bucketed form on an emulated device: same host code, same kernels, threads as fibers."""

from __future__ import annotations

import shutil
import sys

import numpy as np
import pytest
from tests.engines.cuda_host_device import HostDevice
from tests.engines.test_bucketed_engine import SMALL, assert_follows_the_reference, random_buckets, small_form

from regretless import engines
from regretless.engines.bucketed.cuda.engine import CudaBucketedEngine, estimate
from regretless.forms.bucketed import BucketedForm
from regretless.variants import PRESETS, schedule

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None or not sys.platform.startswith("linux"), reason="needs g++ and fibers"
)


def emulated(form: BucketedForm) -> CudaBucketedEngine:
    return CudaBucketedEngine(form, device=HostDevice(host="bucketed_on_host.cpp"))


@pytest.mark.parametrize(
    ("seed", "streets", "variant"),
    [(*case, variant) for case, variant in zip(SMALL, 2 * ["plus", "discounted", "predictive-plus"], strict=True)],
)
def test_it_follows_the_reference(seed: int, streets: int, variant: str) -> None:
    engine = emulated(random_buckets(small_form(seed, streets), seed))
    if variant.startswith("predictive"):
        engine.advance(schedule(PRESETS[variant], first=1, count=1))  # from now on it stores predictions
    assert_follows_the_reference(engine, variant)
