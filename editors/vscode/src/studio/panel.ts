// The Schedule Studio: a panel for the op under the cursor. It shows what the server says, and applies what is chosen.

import { randomBytes } from 'crypto';
import * as vscode from 'vscode';
import { type BenchFigures } from '../commands';
import { later } from '../later';
import type { Server } from '../server';
import { settings } from '../settings';
import type { FromPage, Measurement, Studio, ToPage, Tweaks } from './data';
import { editOf } from './reading';

const SHOW_PAUSE = 10; // milliseconds after a change until the nest is asked for
const MORE_PAUSE = 250; // and until what takes longer is
const MEASURE_PAUSE = 1200;
const KEPT = 50; // measurements of an op

export class StudioPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private document: vscode.TextDocument | undefined;
  private position = new vscode.Position(0, 0);
  private step: number | null = null;
  private sizes: string | undefined;
  private shown: Studio | undefined;
  private tweaks: Tweaks | null = null;
  private measured = '';
  private isMeasuring = false;
  private auto = false;
  private readonly show = later(SHOW_PAUSE, () => this.ask());
  private readonly more = later(MORE_PAUSE, () => this.askMore());
  private readonly remeasure = later(MEASURE_PAUSE, () => this.measureIfNew());
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly server: Server,
    private readonly context: vscode.ExtensionContext,
  ) {
    this.subscriptions = [
      vscode.commands.registerCommand('tdl.studio', () => this.open()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.follow(textEditor)),
      vscode.window.onDidChangeActiveTextEditor((editor) => editor && this.follow(editor)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document === this.document) {
          this.step = null;
          this.show();
        }
      }),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.close();
    this.panel?.dispose();
  }

  /** What is shown now, for tests. */
  get studio(): Studio | undefined {
    return this.shown;
  }

  private open(): void {
    const editor = [vscode.window.activeTextEditor, ...vscode.window.visibleTextEditors].find(isTdl);
    if (!this.panel) {
      const column = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      const media = vscode.Uri.joinPath(this.context.extensionUri, 'media');
      const dist = vscode.Uri.joinPath(this.context.extensionUri, 'dist');
      this.panel = vscode.window.createWebviewPanel('tdl.studio', 'Schedule Studio', column, {
        enableScripts: true,
        retainContextWhenHidden: true,
        localResourceRoots: [media, dist],
      });
      this.panel.iconPath = vscode.Uri.joinPath(this.context.extensionUri, 'images', 'icon.png');
      this.panel.webview.onDidReceiveMessage((message: FromPage) => void this.receive(message));
      this.panel.onDidDispose(() => this.close());
      this.panel.webview.html = page(this.panel.webview, media, dist);
    } else {
      this.panel.reveal(undefined, true);
    }
    if (editor) {
      this.follow(editor);
    }
  }

  private close(): void {
    this.panel = undefined;
    this.show.cancel();
    this.more.cancel();
    this.remeasure.cancel();
  }

  private follow(editor: vscode.TextEditor): void {
    if (!this.panel || !isTdl(editor)) {
      return;
    }
    const isOther = editor.document !== this.document;
    if (isOther || !this.position.isEqual(editor.selection.active)) {
      this.document = editor.document;
      this.position = editor.selection.active;
      this.sizes = isOther ? undefined : this.sizes;
      this.show();
    }
  }

  // ---- asking

  private place(): object {
    return {
      textDocument: { uri: this.server.uri(this.document!.uri) },
      position: { line: this.position.line, character: this.position.character },
    };
  }

  private request(more: object): Promise<Studio | undefined> {
    const step = this.step === null ? {} : { step: this.step };
    const sizes = this.sizes === undefined ? {} : { sizes: this.sizes };
    return this.server.ask<Studio>('tdl/studio', { ...this.place(), ...step, ...sizes, ...more });
  }

  private async ask(): Promise<void> {
    if (!this.document || !this.panel) {
      return;
    }
    try {
      const studio = await this.request({});
      if (!studio) {
        return this.send({ type: 'message', text: 'The TDL language server does not run.' });
      }
      const isOther = studio.op !== this.shown?.op || studio.uri !== this.shown.uri;
      const isSame = !isOther && studio.version === this.shown?.version;
      this.shown = studio;
      if (isOther) {
        this.step = null;
        this.tell();
      }
      if (this.panel) {
        this.panel.title = `Studio: ${studio.op}`;
      }
      this.send({ type: 'studio', studio });
      if (!isSame) {
        this.tweaks = null;
        this.send({ type: 'tweaks', tweaks: null });
        this.remeasure();
      }
      this.more();
    } catch (error) {
      const { code, message } = error as { code?: number; message: string };
      if (code === CONTENT_MODIFIED) {
        this.show();
      } else if (!this.shown) {
        this.send({ type: 'message', text: message });
      }
    }
  }

  /** The limits that need the assembly, and the changes that can be made. */
  private async askMore(): Promise<void> {
    try {
      const [studio, tweaks] = await Promise.all([
        this.request({ assembly: true }),
        this.tweaks ? this.tweaks : this.server.ask<Tweaks>('tdl/tweaks', this.place()),
      ]);
      if (studio && studio.version === this.document?.version) {
        this.shown = studio;
        this.send({ type: 'studio', studio });
      }
      if (tweaks && tweaks.version === this.document?.version) {
        this.tweaks = tweaks;
        this.send({ type: 'tweaks', tweaks });
      }
    } catch (error) {
      this.server.output.debug(`studio: ${(error as Error).message}`); // the next change asks again
    }
  }

  // ---- the page

  private send(message: ToPage): void {
    void this.panel?.webview.postMessage(message);
  }

  private async receive(message: FromPage): Promise<void> {
    switch (message.type) {
      case 'ready':
        this.send({ type: 'settings', auto: this.auto, canRun: vscode.workspace.isTrusted });
        this.shown = undefined;
        this.tell();
        return this.show();
      case 'step':
        this.step = message.step;
        return this.show();
      case 'sizes':
        this.sizes = message.name;
        return this.show();
      case 'reveal':
        return reveal(message.place);
      case 'choose':
        return this.apply(message);
      case 'measure':
        return this.measure();
      case 'auto':
        this.auto = message.on;
        return this.auto ? this.measureIfNew() : undefined;
      case 'addBench':
        return this.addBench();
      case 'restore':
        return this.restore(message.index);
      case 'undo':
        await this.focusDocument();
        await vscode.commands.executeCommand('undo');
    }
  }

  private async apply({ version, choice }: Extract<FromPage, { type: 'choose' }>): Promise<void> {
    const edit = this.tweaks && editOf(this.tweaks, choice);
    if (!edit || version !== this.document?.version) {
      return this.more();
    }
    const converted = await this.server.edit(edit);
    if (converted) {
      await vscode.workspace.applyEdit(converted);
    }
  }

  private async focusDocument(): Promise<void> {
    if (this.document) {
      const visible = vscode.window.visibleTextEditors.find((each) => each.document === this.document);
      await vscode.window.showTextDocument(this.document, { viewColumn: visible?.viewColumn ?? vscode.ViewColumn.One });
    }
  }

  // ---- measuring

  private get key(): string {
    return `history:${this.shown?.uri}:${this.shown?.op}`;
  }

  private get history(): readonly Measurement[] {
    return this.context.workspaceState.get<readonly Measurement[]>(this.key, []);
  }

  private tell(): void {
    this.send({ type: 'history', history: this.history, isMeasuring: this.isMeasuring });
  }

  private measureIfNew(): Promise<void> | void {
    if (this.auto && this.shown && this.schedule() !== this.measured && !this.shown.steps.some((each) => each.refused)) {
      return this.measure();
    }
  }

  /** The text of the schedule that is shown. */
  private schedule(): string {
    const range = this.shown?.schedule?.range;
    return range && this.document ? this.document.getText(rangeOf(range)) : '';
  }

  private async measure(): Promise<void> {
    const bench = this.shown?.cases.find((each) => each.kind === 'bench' && each.name === this.shown?.case);
    if (!this.shown || !bench || this.isMeasuring) {
      return;
    }
    const [schedule, key, sizes] = [this.schedule(), this.key, this.shown.sizes];
    this.isMeasuring = true;
    this.tell();
    try {
      const what = { uri: this.shown.uri, name: bench.name, seconds: settings().seconds, quiet: true };
      const figures = await this.server.ask<BenchFigures>('workspace/executeCommand', {
        command: 'tdl.runBench',
        arguments: [what],
      });
      if (figures) {
        this.measured = schedule;
        const { flops, share_of_compute: share, seconds } = figures;
        const all = [...this.context.workspaceState.get<readonly Measurement[]>(key, [])];
        const next = [...all, { time: Date.now(), sizes, flops, share, seconds, schedule }].slice(-KEPT);
        await this.context.workspaceState.update(key, next);
      }
    } catch (error) {
      void vscode.window.showErrorMessage(`It could not be measured: ${(error as Error).message}`);
    } finally {
      this.isMeasuring = false;
      this.tell();
      this.show(); // the machine may have been measured too
    }
  }

  /** Put the schedule of a measurement back, as one edit. */
  private async restore(index: number): Promise<void> {
    const text = this.history[index]?.schedule;
    const range = this.shown?.schedule?.range;
    if (text && range && this.document) {
      const edit = new vscode.WorkspaceEdit();
      edit.replace(this.document.uri, rangeOf(range), text);
      await vscode.workspace.applyEdit(edit);
    }
  }

  /** Write a bench at the end of the file: its sizes are the first thing to change. */
  private async addBench(): Promise<void> {
    if (!this.document || !this.shown) {
      return;
    }
    const end = this.document.lineAt(this.document.lineCount - 1).range.end;
    const editor = await vscode.window.showTextDocument(this.document, vscode.ViewColumn.One);
    const start = end.character === 0 ? '' : '\n';
    await editor.insertSnippet(new vscode.SnippetString(`${start}bench \${1:large}: ${this.shown.op}(\${2:N=1024})\n`), end);
  }
}

const CONTENT_MODIFIED = -32801;

function isTdl(editor: vscode.TextEditor | undefined): boolean {
  return editor?.document.languageId === 'tdl';
}

function rangeOf({ start, end }: { start: { line: number; character: number }; end: { line: number; character: number } }) {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

async function reveal({ uri, range }: { uri: string; range: Parameters<typeof rangeOf>[0] }): Promise<void> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  const visible = vscode.window.visibleTextEditors.find((each) => each.document === document);
  const viewColumn = visible?.viewColumn ?? vscode.ViewColumn.One;
  await vscode.window.showTextDocument(document, { selection: rangeOf(range), viewColumn, preserveFocus: true });
}

function page(webview: vscode.Webview, media: vscode.Uri, dist: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64');
  const script = webview.asWebviewUri(vscode.Uri.joinPath(dist, 'studio.js'));
  const style = webview.asWebviewUri(vscode.Uri.joinPath(media, 'studio.css'));
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'; font-src ${webview.cspSource}`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="${style}">
<title>Schedule Studio</title>
</head>
<body>
<main id="studio"><p class="quiet">Put the cursor into an op or its schedule.</p></main>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
