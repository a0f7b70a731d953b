// What is changed on the way between editor and server.

import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient/node';
import { settings } from './settings';

/** What a lens of the server asks to be shown. */
interface Plan {
  readonly uri: string;
  readonly name: string;
  readonly stage: string;
}

/** Put the cursor at an op, and have our view follow it there. */
async function showPlan({ uri, name, stage }: Plan): Promise<void> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  const place = new RegExp(`^\\s*op\\s+${name}\\b`, 'm').exec(document.getText());
  const editor = await vscode.window.showTextDocument(document, { preserveFocus: false });
  if (place) {
    const at = document.positionAt(place.index + place[0].length);
    editor.selection = new vscode.Selection(at, at);
  }
  await vscode.commands.executeCommand('tdl.preview', stage);
}

/** Lenses are asked for only where they are wanted; our own view shows plans. */
export function middleware(): Middleware {
  return {
    executeCommand: (command, args, next) =>
      command === 'tdl.showPlan' ? showPlan(args[0] as Plan) : next(command, args),
    provideCodeLenses: (document, token, next) => (settings().lenses ? next(document, token) : []),
  };
}
