// Pages about errors, as documents: tdl-page:/race.md

import * as vscode from 'vscode';
import type { Server } from './server';

export function registerPages(server: Server): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider('tdl-page', {
    provideTextDocumentContent: async (uri) => {
      const code = uri.path.replace(/^\/|\.md$/g, '');
      const page = await server.ask<{ readonly text: string }>('tdl/page', { code });
      return page?.text ?? 'The TDL language server does not run.';
    },
  });
}
