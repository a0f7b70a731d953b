"""Random programs as C: those of the LLVM back-end."""

import pytest

from tests.compiler.backends.test_random_programs import *  # noqa: F403

pytestmark = pytest.mark.nightly
