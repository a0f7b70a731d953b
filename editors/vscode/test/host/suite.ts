// Runs inside the extension host, with the real editor around it.

import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Api } from '../../src/extension';

const file = (name: string) => vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, name);

async function until<T>(holds: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  const end = Date.now() + 60_000;
  for (;;) {
    const value = await holds();
    if (value) {
      return value;
    }
    if (Date.now() > end) {
      throw new Error(`waited in vain for: ${holds}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function open(name: string): Promise<vscode.TextEditor> {
  const document = await vscode.workspace.openTextDocument(file(name));
  return vscode.window.showTextDocument(document, vscode.ViewColumn.One);
}

/** Put the cursor where some text is. */
function go(editor: vscode.TextEditor, text: string): vscode.Position {
  const position = editor.document.positionAt(editor.document.getText().indexOf(text) + 1);
  editor.selection = new vscode.Selection(position, position);
  return position;
}

async function api(): Promise<Api> {
  const extension = vscode.extensions.getExtension<Api>('tdlang.tdl');
  assert.ok(extension, 'the extension is there');
  return extension.activate();
}

const viewText = (title: string) =>
  vscode.workspace.textDocuments.find((each) => each.uri.scheme === 'tdl-view' && each.uri.path === `/TDL ${title}`);

const tests: Record<string, () => Promise<void>> = {
  'it does not start before a TDL file is opened': async () => {
    assert.equal(vscode.extensions.getExtension('tdlang.tdl')?.isActive, false);
  },
  'it starts with a TDL file, and finds the server': async () => {
    const editor = await open('wrong.tdl');
    assert.equal(editor.document.languageId, 'tdl');
    const { server } = await api();
    await until(() => server.status.kind === 'running');
  },
  'diagnostics of the program and of its schedule': async () => {
    const found = await until(() => {
      const all = vscode.languages.getDiagnostics(file('wrong.tdl'));
      return all.length >= 2 && all;
    });
    assert.deepEqual(found.map((each) => each.range.start.line), [1, 10]);
    assert.match(found[0]!.message, /zero/);
  },
  'hover': async () => {
    const position = go(await open('wrong.tdl'), 'halves');
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider', file('wrong.tdl'), position,
    );
    const texts = hovers.flatMap((each) => each.contents).map((each) => (each as vscode.MarkdownString).value);
    assert.match(texts.join('\n'), /halves/);
  },
  'definition': async () => {
    const position = go(await open('wrong.tdl'), 'halves(X=');
    const found = await vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[]>(
      'vscode.executeDefinitionProvider', file('wrong.tdl'), position,
    );
    const first = found[0]!;
    assert.equal(('targetRange' in first ? first.targetSelectionRange! : first.range).start.line, 4);
  },
  'formatting': async () => {
    const document = await vscode.workspace.openTextDocument({ language: 'tdl', content: 'const  half:f64=0.5\n' });
    const edits = await until(async () => {
      const found = await vscode.commands.executeCommand<vscode.TextEdit[]>(
        'vscode.executeFormatDocumentProvider', document.uri, { tabSize: 4, insertSpaces: true },
      );
      return found?.length ? found : undefined;
    });
    const edit = new vscode.WorkspaceEdit();
    edit.set(document.uri, edits);
    await vscode.workspace.applyEdit(edit);
    assert.equal(document.getText(), 'const half: f64 = 0.5\n');
  },
  'a preview follows the cursor, with links': async () => {
    const editor = await open('product.tdl');
    go(editor, 'split C.j');
    await vscode.commands.executeCommand('tdl.preview', 'nest');
    const document = await until(() => viewText('loops'));
    assert.equal(document.languageId, 'tdl-nest');
    await until(() => /for jp/.test(document.getText()));
    const { previews } = await api();
    assert.ok(previews.shown(document.uri)!.links.some((each) => each.step !== undefined));
    const other = await open('wrong.tdl');
    go(other, 'Y[i] = X[i] / 2');
    await until(() => /op halves/.test(document.getText()));
  },
  'assembly in its own language': async () => {
    const editor = await open('product.tdl');
    go(editor, 'sum(A');
    await vscode.commands.executeCommand('tdl.preview', 'asm');
    const document = await until(() => viewText('assembly'));
    assert.equal(document.languageId, 'tdl-assembly');
    await until(() => /matmul/.test(document.getText()));
    assert.ok((await api()).previews.shown(document.uri)!.hotLoop);
  },
  'a preview follows edits': async () => {
    const editor = await open('product.tdl');
    go(editor, 'unroll ii');
    await vscode.commands.executeCommand('tdl.preview', 'nest');
    const document = await until(() => viewText('loops'));
    await until(() => /unrolled for ii/.test(document.getText()));
    const line = editor.selection.active.line;
    await editor.edit((edit) => edit.delete(new vscode.Range(line, 0, line + 1, 0)));
    await until(() => !/unrolled for ii/.test(document.getText()) && /for ii/.test(document.getText()));
    await vscode.commands.executeCommand('undo');
    await until(() => /unrolled for ii/.test(document.getText()));
  },
  'what a schedule line does': async () => {
    go(await open('product.tdl'), 'unroll ii');
    await vscode.commands.executeCommand('tdl.diffLine');
    const after = await until(() => viewText('loops after'));
    assert.match(after.getText(), /unrolled for ii/);
    assert.doesNotMatch(viewText('loops before')!.getText(), /unrolled for ii/);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  },
  'a test runs': async () => {
    go(await open('product.tdl'), 'test small');
    await vscode.commands.executeCommand('tdl.test');
    await lens('run test · passed');
  },
  'a bench runs': async () => {
    await vscode.workspace.getConfiguration('tdl').update('bench.seconds', 0.05, vscode.ConfigurationTarget.Global);
    go(await open('product.tdl'), 'bench square');
    await vscode.commands.executeCommand('tdl.bench');
    await lens('GFLOP/s');
  },
  'pages about errors': async () => {
    await vscode.commands.executeCommand('tdl.explain', 'race');
    const page = await until(() => vscode.workspace.textDocuments.find((each) => each.uri.scheme === 'tdl-page'));
    assert.match(page.getText(), /race/);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  },
  'restarting': async () => {
    const { server } = await api();
    await vscode.commands.executeCommand('tdl.restart');
    await until(() => server.status.kind === 'running');
    await until(() => vscode.languages.getDiagnostics(file('wrong.tdl')).length >= 2);
  },
};

async function lens(title: string): Promise<void> {
  await until(async () => {
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', file('product.tdl'), 10);
    return lenses.some((each) => each.command?.title.includes(title));
  });
}

export async function run(): Promise<void> {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    const start = Date.now();
    try {
      await test();
      console.log(`ok   ${name} (${Date.now() - start} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}`);
      console.log(`    ${(error as Error).stack}`);
    }
  }
  console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
  if (failed > 0) {
    throw new Error(`${failed} tests failed`);
  }
}
