// Generated code beside its source: documents that follow the cursor, with links to and fro.
//
//   tdl-view:/TDL loops                      the op under the cursor, by stage
//   tdl-view:/TDL loops before, ... after    the same before and after the schedule line at the cursor, for a diff

import * as vscode from 'vscode';
import { later } from './later';
import { type Location, linesFrom, placesOf, type Preview, runs } from './previewLinks';
import type { Server } from './server';
import { settings } from './settings';

export const SCHEME = 'tdl-view';

/** What can be shown, by the server's name of the stage. */
const STAGES = {
  nest: { title: 'loops', language: 'tdl-nest', says: 'the named loops' },
  kernel: { title: 'kernel', language: 'tdl-nest', says: 'the loops as they are lowered, on flat buffers' },
  c: { title: 'C', language: 'c', says: 'C99 that computes the same' },
  'llvm-made': { title: 'LLVM as made', language: 'tdl-llvm', says: 'LLVM text before its own passes' },
  llvm: { title: 'LLVM', language: 'tdl-llvm', says: 'LLVM text after its own passes' },
  asm: { title: 'assembly', language: 'tdl-assembly', says: 'machine code for this CPU' },
} as const;

export type Stage = keyof typeof STAGES;
type Side = 'whole' | 'before' | 'after';

/** What a document of ours shows. */
interface View {
  readonly stage: Stage;
  readonly side: Side;
}

const PAUSE = 150; // milliseconds without a change after which views follow

export class Previews implements vscode.Disposable, vscode.TextDocumentContentProvider, vscode.CodeLensProvider {
  private readonly made = new Map<string, Preview>();
  private readonly failed = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly lensesChanged = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  readonly onDidChangeCodeLenses = this.lensesChanged.event;
  private followed: { readonly document: vscode.TextDocument; readonly position: vscode.Position } | undefined;
  private readonly follow = later(PAUSE, () => this.refresh());
  private readonly linked = decoration('editor.wordHighlightStrongBackground', 'editorOverviewRuler.wordHighlightStrongForeground');
  private readonly hot = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    borderWidth: '0 0 0 2px',
    borderStyle: 'solid',
    borderColor: new vscode.ThemeColor('charts.yellow'),
  });
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.subscriptions = [
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.languages.registerCodeLensProvider({ scheme: SCHEME }, this),
      vscode.window.onDidChangeTextEditorSelection((event) => this.selected(event)),
      vscode.window.onDidChangeActiveTextEditor((editor) => this.activated(editor)),
      vscode.window.onDidChangeVisibleTextEditors((editors) => this.changedEditors(editors)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.edited(document)),
      vscode.commands.registerCommand('tdl.preview', (stage?: Stage) => this.open(stage)),
      vscode.commands.registerCommand('tdl.pickStage', () => this.pickStage()),
      vscode.commands.registerCommand('tdl.diffLine', (stage?: Stage) => this.openDiff(stage)),
      vscode.commands.registerCommand('tdl.hotLoop', (uri: string) => this.showHotLoop(uri)),
    ];
    this.activated(vscode.window.activeTextEditor);
  }

  dispose(): void {
    this.follow.cancel();
    vscode.Disposable.from(...this.subscriptions, this.linked, this.hot, this.changed, this.lensesChanged).dispose();
  }

  /** The answer behind a document of ours, for tests. */
  shown(uri: vscode.Uri): Preview | undefined {
    return this.made.get(uri.toString());
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const key = uri.toString();
    return this.made.get(key)?.text ?? `# ${this.failed.get(key) ?? 'put the cursor into an op'}\n`;
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const view = viewOf(document.uri);
    const preview = this.shown(document.uri);
    if (!view || !preview) {
      return [];
    }
    const top = new vscode.Range(0, 0, 0, 0);
    const lens = (title: string, command: string, ...args: unknown[]) =>
      new vscode.CodeLens(top, { title, command, arguments: args });
    const loop = preview.hotLoop;
    return [
      lens(`$(layers) ${STAGES[view.stage].title}`, 'tdl.pickStage'),
      lens(preview.title, 'tdl.pickStage'),
      ...(view.side === 'whole' && preview.steps.length > 0
        ? [lens('$(diff) what the line at the cursor does', 'tdl.diffLine', view.stage)]
        : []),
      ...(loop ? [lens(`$(flame) ${loop.summary}`, 'tdl.hotLoop', document.uri.toString())] : []),
    ];
  }

  // ---- commands

  async open(stage: Stage = 'nest'): Promise<void> {
    await this.show({ stage, side: 'whole' });
  }

  private async pickStage(): Promise<void> {
    const items = Object.entries(STAGES).map(([stage, { title, says }]) => ({ label: title, description: says, stage }));
    const chosen = await vscode.window.showQuickPick(items, { placeHolder: 'The stage to show' });
    if (chosen) {
      await this.open(chosen.stage as Stage);
    }
  }

  private async openDiff(stage: Stage = 'nest'): Promise<void> {
    const [before, after] = (['before', 'after'] as const).map((side) => uriOf({ stage, side }));
    await Promise.all([this.make(before!), this.make(after!)]);
    await Promise.all([this.document(before!), this.document(after!)]);
    const title = `TDL ${STAGES[stage].title}: before ↔ after the line at the cursor`;
    const options = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true };
    await vscode.commands.executeCommand('vscode.diff', before, after, title, options);
  }

  private async show(view: View): Promise<void> {
    const uri = uriOf(view);
    await this.make(uri);
    const document = await this.document(uri);
    const visible = vscode.window.visibleTextEditors.find((each) => viewOf(each.document.uri));
    const viewColumn = visible?.viewColumn ?? vscode.ViewColumn.Beside;
    await vscode.window.showTextDocument(document, { viewColumn, preserveFocus: true, preview: true });
    this.decorate();
  }

  private async document(uri: vscode.Uri): Promise<vscode.TextDocument> {
    const language = STAGES[viewOf(uri)!.stage].language;
    const document = await vscode.workspace.openTextDocument(uri);
    return document.languageId === language ? document : vscode.languages.setTextDocumentLanguage(document, language);
  }

  private showHotLoop(uri: string): void {
    const loop = this.made.get(uri)?.hotLoop;
    const editor = vscode.window.visibleTextEditors.find((each) => each.document.uri.toString() === uri);
    if (editor && loop) {
      editor.revealRange(new vscode.Range(loop.startLine, 0, loop.endLine, 0), vscode.TextEditorRevealType.AtTop);
    }
  }

  // ---- following

  private activated(editor: vscode.TextEditor | undefined): void {
    if (editor?.document.languageId === 'tdl') {
      this.followed = { document: editor.document, position: editor.selection.active };
      this.follow();
    }
  }

  private selected({ textEditor, kind }: vscode.TextEditorSelectionChangeEvent): void {
    if (textEditor.document.languageId === 'tdl') {
      this.activated(textEditor);
    } else if (viewOf(textEditor.document.uri) && kind !== undefined) {
      this.markSource(textEditor);
    }
  }

  private edited(document: vscode.TextDocument): void {
    if (document === this.followed?.document) {
      this.follow();
    } else if (viewOf(document.uri)) {
      this.decorate();
    }
  }

  /** Have every view that is open show what is at the cursor now. */
  private async refresh(): Promise<void> {
    const open = vscode.workspace.textDocuments.map((each) => each.uri).filter((uri) => viewOf(uri));
    for (const uri of open) {
      const before = this.provideTextDocumentContent(uri);
      await this.make(uri);
      if (this.provideTextDocumentContent(uri) !== before) {
        this.changed.fire(uri);
      }
    }
    if (open.length > 0) {
      this.lensesChanged.fire();
      this.decorate();
    }
  }

  /** Ask the server for what a document shows. Where the cursor is in no op, what was shown stays. */
  private async make(uri: vscode.Uri): Promise<void> {
    const view = viewOf(uri);
    if (!view || !this.followed) {
      return;
    }
    const { document, position } = this.followed;
    const place = {
      textDocument: { uri: this.server.uri(document.uri) },
      position: { line: position.line, character: position.character },
      stage: view.stage,
      ...sizes(),
    };
    try {
      const preview = await this.server.ask<Preview>('tdl/preview', await this.stepped(place, view.side));
      if (preview) {
        this.made.set(uri.toString(), preview);
      }
    } catch (error) {
      this.failed.set(uri.toString(), (error as Error).message);
    }
  }

  /** The same request for one side of a diff. */
  private async stepped(place: object, side: Side): Promise<object> {
    if (side === 'whole') {
      return place;
    }
    const after = { ...place, step: 'cursor' };
    if (side === 'after') {
      return after;
    }
    const step = (await this.server.ask<Preview>('tdl/preview', { ...after, stage: 'nest' }))?.step ?? 0;
    return { ...place, step: Math.max(0, step - 1) };
  }

  // ---- links

  private changedEditors(editors: readonly vscode.TextEditor[]): void {
    if (editors.some((each) => viewOf(each.document.uri))) {
      this.decorate();
    } else {
      editors.forEach((each) => each.setDecorations(this.linked, [])); // what they were linked with is closed
    }
  }

  /** Mark what came from the line at the cursor in every view that is visible. */
  private decorate(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const preview = viewOf(editor.document.uri) && this.shown(editor.document.uri);
      if (!preview || !this.followed) {
        continue;
      }
      const lines = linesFrom(preview.links, this.server.uri(this.followed.document.uri), this.followed.position);
      const marked = runs(lines).map(([first, last]) => new vscode.Range(first, 0, last, 0));
      editor.setDecorations(this.linked, marked);
      const loop = preview.hotLoop;
      editor.setDecorations(this.hot, loop ? [new vscode.Range(loop.startLine, 0, loop.endLine, 0)] : []);
      if (marked[0] && vscode.window.activeTextEditor !== editor) {
        editor.revealRange(marked[0], vscode.TextEditorRevealType.InCenterIfOutsideViewport);
      }
    }
  }

  /** Mark in the program what the selected lines of a view came from. */
  private markSource(view: vscode.TextEditor): void {
    const preview = this.shown(view.document.uri);
    const { start, end } = view.selection;
    const places = preview ? placesOf(preview.links, start.line, end.line) : [];
    let isFirst = true;
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.languageId !== 'tdl') {
        continue;
      }
      const uri = this.server.uri(editor.document.uri);
      const ranges = places.filter((each) => each.uri === uri).map(rangeOf);
      editor.setDecorations(this.linked, ranges);
      if (isFirst && ranges[0]) {
        isFirst = false;
        editor.revealRange(ranges[0], vscode.TextEditorRevealType.InCenterIfOutsideViewport);
      }
    }
    view.setDecorations(this.linked, [new vscode.Range(start.line, 0, end.line, 0)]);
  }
}

function decoration(background: string, ruler: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor(background),
    overviewRulerColor: new vscode.ThemeColor(ruler),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
  });
}

function rangeOf({ range: { start, end } }: Location): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

/** What is asked for where the cursor is at no test or bench. */
function sizes(): { sizes?: string } {
  const wanted = settings().sizes;
  return wanted === 'bench' ? {} : { sizes: wanted };
}

function uriOf({ stage, side }: View): vscode.Uri {
  const ending = side === 'whole' ? '' : ` ${side}`;
  return vscode.Uri.from({ scheme: SCHEME, path: `/TDL ${STAGES[stage].title}${ending}`, query: `${stage}&${side}` });
}

function viewOf(uri: vscode.Uri): View | undefined {
  const [stage, side] = uri.query.split('&');
  return uri.scheme === SCHEME ? { stage: stage as Stage, side: side as Side } : undefined;
}
