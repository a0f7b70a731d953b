"""The user's settings, as the client tells them: asked for at the start and when they change, or sent by the client."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from tdl.lsp.settings import settings_of
from tdl.lsp.workspace import Workspace

SECTION = "tdl"


class Configuration:
    """Keeps the settings of a workspace as the client has them."""

    def __init__(self, server: LanguageServer, workspace: Workspace) -> None:
        self._server = server
        self._workspace = workspace

    def begin(self) -> None:
        """Ask for the settings, and to be told when they change, as far as the client can."""
        capabilities = self._capabilities
        changes = capabilities.did_change_configuration
        if changes is not None and changes.dynamic_registration:
            registration = types.Registration(
                "settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": SECTION}
            )
            self._server.client_register_capability(types.RegistrationParams([registration]))
        if capabilities.configuration:
            self._ask()

    def changed(self, params: types.DidChangeConfigurationParams) -> None:
        """What a client sends that cannot be asked is all there is."""
        if self._capabilities.configuration:
            self._ask()
        elif isinstance(params.settings, dict):
            self._use(params.settings.get(SECTION))

    @property
    def _capabilities(self) -> types.WorkspaceClientCapabilities:
        return self._server.client_capabilities.workspace or types.WorkspaceClientCapabilities()

    def _ask(self) -> None:
        def answered(future: Future[Sequence[Any]]) -> None:
            if future.cancelled() or future.exception() is not None:
                return  # a client that does not say has the settings by default
            values = future.result()
            self._use(values[0] if values else None)

        wanted = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        self._server.workspace_configuration(wanted).add_done_callback(answered)

    def _use(self, value: object) -> None:
        settings = settings_of(value)
        if settings == self._workspace.settings:
            return
        self._workspace.settings = settings
        hints = self._capabilities.inlay_hint
        if hints is not None and hints.refresh_support:
            self._server.workspace_inlay_hint_refresh(None)
