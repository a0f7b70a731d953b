"""Processes that are not our children, and whose end can be waited for."""

from __future__ import annotations

import os
import select

import pytest

from tests.lsp.client import PATIENCE

linux = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for processes by descriptors of Linux")


class Watched:
    """A process, held by a descriptor of it so that no later one is taken for it."""

    def __init__(self, process: int) -> None:
        self._descriptor = os.pidfd_open(process)

    def ends(self) -> bool:
        ready, _, _ = select.select([self._descriptor], [], [], PATIENCE)
        os.close(self._descriptor)
        return bool(ready)
