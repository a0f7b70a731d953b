"""Operators, functions and conversions as C: the tests of the LLVM back-end, on C that no compiler warns of."""

from tests.compiler.backends.test_operators import *  # noqa: F403
