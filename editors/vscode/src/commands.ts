// The commands of the palette.

import * as path from 'path';
import * as vscode from 'vscode';
import { type Case, caseAt, casesOf, type Kind } from './cases';
import type { Server } from './server';
import { settings } from './settings';

/** The answer of `tdl.runBench`; rates are per second. */
export interface BenchFigures {
  readonly seconds: number;
  readonly flops: number;
  readonly bytes: number;
  readonly share_of_compute: number;
  readonly share_of_memory: number;
  readonly message: string;
}

const VERBS = { test: 'tdl.runTest', bench: 'tdl.runBench' } as const;

export function registerCommands(context: vscode.ExtensionContext, server: Server): void {
  const register = (name: string, run: (...args: never[]) => unknown) =>
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  register('tdl.test', () => runCase('test'));
  register('tdl.bench', () => runCase('bench'));
  register('tdl.benchAll', () => benchAll(server));
  register('tdl.format', () => vscode.commands.executeCommand('editor.action.formatDocument'));
  register('tdl.explain', (code?: string) => explain(server, code));
  register('tdl.new', () => newFile(context.extensionUri));
  register('tdl.actions', () => chooseAction(server));
}

/** The TDL document that is edited, or told that there is none. */
export function activeTdl(): vscode.TextEditor | undefined {
  const editors = [vscode.window.activeTextEditor, ...vscode.window.visibleTextEditors];
  const editor = editors.find((each) => each?.document.languageId === 'tdl');
  if (!editor) {
    void vscode.window.showInformationMessage('Open a TDL file first.');
  }
  return editor;
}

async function runCase(kind: Kind): Promise<void> {
  const editor = activeTdl();
  const chosen = editor && (await chosenCase(editor, kind));
  if (chosen) {
    await runNamed(editor.document.uri, chosen);
  }
}

/** Run one test or bench in the server, which says the result in a message. */
export function runNamed(uri: vscode.Uri, chosen: Case): Thenable<BenchFigures | undefined> {
  const what = { uri: uri.toString(), name: chosen.name, seconds: settings().seconds };
  return vscode.commands.executeCommand<BenchFigures | undefined>(VERBS[chosen.kind], what);
}

async function chosenCase(editor: vscode.TextEditor, kind: Kind): Promise<Case | undefined> {
  const cases = casesOf(editor.document.getText(), kind);
  if (cases.length === 0) {
    void vscode.window.showInformationMessage(`There is no ${kind} in ${path.basename(editor.document.fileName)}.`);
    return undefined;
  }
  const here = caseAt(cases, editor.selection.active.line, undefined);
  if (here) {
    return here;
  }
  const items = cases.map((each) => ({ label: each.name, description: each.op, each }));
  return (await vscode.window.showQuickPick(items, { placeHolder: `The ${kind} to run` }))?.each;
}

/** Measure every bench of the file, one after the other; the figures are listed in the output. */
async function benchAll(server: Server): Promise<void> {
  const editor = activeTdl();
  if (!editor) {
    return;
  }
  const cases = casesOf(editor.document.getText(), 'bench');
  const lines: string[] = [];
  for (const each of cases) {
    const figures = await runNamed(editor.document.uri, each);
    if (!figures) {
      break;
    }
    lines.push(`${each.name}: ${figures.message}`);
  }
  const name = path.basename(editor.document.fileName);
  server.output.info([`benches of ${name}`, ...lines].join('\n  '));
  const summary = `${lines.length} of ${cases.length} benches of ${name} were measured.`;
  if (await vscode.window.showInformationMessage(summary, 'Show Figures')) {
    server.output.show();
  }
}

/** The page about an error: of the code given, of the one at the cursor, or of one chosen. */
async function explain(server: Server, given: string | undefined): Promise<void> {
  const codes = await server.ask<string[]>('tdl/codes', {});
  if (!codes) {
    return;
  }
  const code = given ?? codeAtCursor() ?? (await vscode.window.showQuickPick(codes, { placeHolder: 'The error' }));
  if (code) {
    const uri = vscode.Uri.from({ scheme: 'tdl-page', path: `/${code}.md` });
    await vscode.commands.executeCommand('markdown.showPreviewToSide', uri);
  }
}

function codeAtCursor(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    return undefined;
  }
  const found = vscode.languages
    .getDiagnostics(editor.document.uri)
    .find((each) => each.range.contains(editor.selection.active) && each.source === 'tdlc');
  return codeOf(found?.code);
}

function codeOf(code: vscode.Diagnostic['code']): string | undefined {
  return typeof code === 'object' ? String(code.value) : code === undefined ? undefined : String(code);
}

/** A new file from one of the templates that come with the extension. */
async function newFile(extension: vscode.Uri): Promise<void> {
  const folder = vscode.Uri.joinPath(extension, 'templates');
  const names = (await vscode.workspace.fs.readDirectory(folder)).map(([name]) => name).sort();
  const items = await Promise.all(
    names.map(async (name) => {
      const content = Buffer.from(await vscode.workspace.fs.readFile(vscode.Uri.joinPath(folder, name))).toString();
      return { label: name.replace(/\.tdl$/, '').replaceAll('_', ' '), detail: firstLine(content), content };
    }),
  );
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: 'What the new file begins with' });
  if (chosen) {
    const document = await vscode.workspace.openTextDocument({ language: 'tdl', content: chosen.content });
    await vscode.window.showTextDocument(document);
  }
}

function firstLine(content: string): string {
  return (content.split('\n')[0] ?? '').replace(/^#+\s*/, '');
}

/** What a click on the status-bar item offers. */
async function chooseAction(server: Server): Promise<void> {
  const isMissing = server.status.kind === 'missing';
  const actions = [
    ...(isMissing ? [{ label: '$(cloud-download) Create an environment and install the server', run: 'tdl.install' }] : []),
    { label: '$(debug-restart) Restart the server', run: 'tdl.restart' },
    { label: '$(output) Show its output', run: 'tdl.output' },
    { label: '$(settings-gear) Settings', run: 'workbench.action.openSettings' },
  ];
  const chosen = await vscode.window.showQuickPick(actions, { placeHolder: 'TDL language server' });
  if (chosen) {
    await vscode.commands.executeCommand(chosen.run, ...(chosen.run.startsWith('workbench') ? ['tdl.'] : []));
  }
}
