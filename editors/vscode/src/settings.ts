// The settings, read where they are used, and which of them need another start of the server.

import * as vscode from 'vscode';

/** Those that the server takes when it starts. */
export const AT_START = ['tdl.python', 'tdl.server', 'tdl.threads', 'tdl.target'];

export interface Settings {
  readonly python: string;
  readonly server: string;
  readonly arguments: readonly string[];
  readonly package: string;
  readonly threads: number;
  readonly sizes: string;
  readonly lenses: boolean;
  readonly seconds: number;
}

export function settings(): Settings {
  const of = vscode.workspace.getConfiguration('tdl');
  return {
    python: of.get('python', ''),
    server: of.get('server.path', ''),
    arguments: of.get('server.arguments', []),
    package: of.get('server.package', 'tdlang[lsp]'),
    threads: of.get('threads', 0),
    sizes: of.get('previews.sizes', 'bench'),
    lenses: of.get('lenses', true),
    seconds: of.get('bench.seconds', 1),
  };
}
