"""Definitions and failures as C: the tests of the LLVM back-end, on C that no compiler warns of."""

import pytest

from tests.compiler.backends.test_semantics import *  # noqa: F403

pytestmark = pytest.mark.nightly
