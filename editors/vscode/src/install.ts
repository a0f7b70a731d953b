// Making a virtual environment in the workspace with a server in it, when a person asks for it.

import { spawn } from 'child_process';
import * as fs from 'fs';
import * as path from 'path';
import * as vscode from 'vscode';
import { interpreterIn } from './finding';
import type { Server } from './server';
import { settings } from './settings';

const INSTALL = 'Create Environment and Install';
const SETTINGS = 'Open Settings';

/** Tell that there is no server, and offer what helps. */
export async function offerInstall(server: Server): Promise<void> {
  const chosen = await vscode.window.showWarningMessage(
    'No TDL language server was found: not in the selected interpreter, the settings, the workspace, or on PATH.',
    ...(vscode.workspace.isTrusted && vscode.workspace.workspaceFolders ? [INSTALL] : []),
    SETTINGS,
  );
  if (chosen === INSTALL) {
    await install(server);
  } else if (chosen === SETTINGS) {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'tdl.');
  }
}

/** Make `.venv` in a folder of the workspace, install the server in it, and start it. */
export async function install(server: Server): Promise<void> {
  const folder = await chosenFolder();
  if (!folder) {
    return;
  }
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showErrorMessage('Nothing is installed in a workspace that is not trusted.');
    return;
  }
  const progress = { location: vscode.ProgressLocation.Notification, title: 'TDL', cancellable: true };
  try {
    await vscode.window.withProgress(progress, (report, token) => installInto(folder, server, report, token));
  } catch (error) {
    server.output.error((error as Error).message);
    const chosen = await vscode.window.showErrorMessage(
      `The TDL language server could not be installed: ${(error as Error).message}`,
      'Show Output',
    );
    if (chosen) {
      server.output.show();
    }
    return;
  }
  await server.restart();
}

async function installInto(
  folder: string,
  server: Server,
  report: vscode.Progress<{ message: string }>,
  token: vscode.CancellationToken,
): Promise<void> {
  const isWindows = process.platform === 'win32';
  const environment = path.join(folder, '.venv');
  const python = interpreterIn(environment, isWindows);
  if (!fs.existsSync(python)) {
    report.report({ message: 'creating the environment .venv' });
    await run(settings().python || (isWindows ? 'python' : 'python3'), ['-m', 'venv', environment], folder, server, token);
  }
  report.report({ message: `installing ${settings().package}` });
  await run(python, ['-m', 'pip', 'install', '--upgrade', settings().package], folder, server, token);
}

async function chosenFolder(): Promise<string | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    void vscode.window.showErrorMessage('Open a folder first: the environment is created in it.');
    return undefined;
  }
  const folder =
    folders.length === 1
      ? folders[0]
      : await vscode.window.showWorkspaceFolderPick({ placeHolder: 'The folder to create the environment in' });
  return folder?.uri.fsPath;
}

/** Run a program; what it says goes to the output channel. Rejects where it fails or is cancelled. */
function run(
  command: string,
  args: string[],
  cwd: string,
  server: Server,
  token: vscode.CancellationToken,
): Promise<void> {
  server.output.info(`$ ${command} ${args.join(' ')}`);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, windowsHide: true });
    let last = '';
    const keep = (data: Buffer) => {
      const text = data.toString().trim();
      if (text) {
        last = text.split('\n').pop() ?? '';
        server.output.info(text);
      }
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const cancelled = token.onCancellationRequested(() => child.kill());
    child.on('error', (error) => reject(new Error(`${command}: ${error.message}`)));
    child.on('close', (code) => {
      cancelled.dispose();
      if (code === 0) {
        resolve();
      } else {
        reject(new Error(token.isCancellationRequested ? 'it was cancelled' : last || `${command} ended with ${code}`));
      }
    });
  });
}
