// What the extension starts when a TDL file is opened, and what it leaves behind when it ends.

import * as vscode from 'vscode';
import { registerCommands } from './commands';
import { install, offerInstall } from './install';
import { middleware } from './middleware';
import { registerPages } from './pages';
import { Previews } from './previews';
import { onInterpreter } from './python';
import { Server } from './server';
import { AT_START } from './settings';
import { StudioPanel } from './studio/panel';
import { StatusItem } from './status';

/** For tests: they wait for the server to be there. */
export interface Api {
  readonly server: Server;
  readonly previews: Previews;
  readonly studio: StudioPanel;
}

export async function activate(context: vscode.ExtensionContext): Promise<Api> {
  const server = new Server(middleware());
  const previews = new Previews(server);
  context.subscriptions.push(
    server,
    server.output,
    new StatusItem(server),
    vscode.commands.registerCommand('tdl.restart', () => server.restart()),
    vscode.commands.registerCommand('tdl.install', () => install(server)),
    vscode.commands.registerCommand('tdl.output', () => server.output.show()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.restart()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (AT_START.some((name) => change.affectsConfiguration(name))) {
        void server.restart();
      }
    }),
    server.onStatus((status) => {
      if (status.kind === 'missing') {
        void offerInstall(server);
      }
    }),
  );
  registerCommands(context, server);
  const studio = new StudioPanel(server, context);
  context.subscriptions.push(previews, studio, registerPages(server));
  void onInterpreter(() => void server.restart()).then((each) => each && context.subscriptions.push(each));
  void server.restart();
  return { server, previews, studio };
}
