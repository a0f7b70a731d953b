// The item in the status bar: whether the server runs, which version, and for what machine.

import * as vscode from 'vscode';
import type { Server, Status } from './server';

/** What `tdl/machine` says. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly vectorBits: number;
  readonly caches: readonly number[];
}

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('tdl.status', vscode.StatusBarAlignment.Right, 90);
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.item.name = 'TDL';
    this.item.command = 'tdl.actions';
    this.subscriptions = [
      server.onStatus((status) => void this.show(status)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.toggle()),
    ];
    void this.show(server.status);
    this.toggle();
  }

  dispose(): void {
    vscode.Disposable.from(this.item, ...this.subscriptions).dispose();
  }

  private toggle(): void {
    if (vscode.window.visibleTextEditors.some((each) => each.document.languageId === 'tdl')) {
      this.item.show();
    } else {
      this.item.hide();
    }
  }

  private async show(status: Status): Promise<void> {
    const [text, says, isBad] = words(status);
    this.item.text = text;
    this.item.tooltip = says;
    this.item.backgroundColor = isBad ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    if (status.kind === 'running') {
      const machine = await this.server.ask<Machine>('tdl/machine', {}).catch(() => undefined);
      if (machine && this.server.status === status) {
        this.item.tooltip = `${says}\n${machineWords(machine)}`;
      }
    }
  }
}

function words(status: Status): [string, string, boolean] {
  const trust = vscode.workspace.isTrusted ? '' : '\nThe workspace is not trusted: nothing is run or measured.';
  switch (status.kind) {
    case 'starting':
      return ['$(loading~spin) TDL', 'The TDL language server is starting', false];
    case 'running':
      return [`TDL ${status.found.version}`, `TDL ${status.found.version}, ${status.found.command}${trust}`, false];
    case 'stopped':
      return ['$(error) TDL', `The TDL language server does not run: ${status.reason}`, true];
    case 'missing':
      return ['$(warning) TDL', 'There is no TDL language server here: click to install one', true];
  }
}

/** `znver4, 8 cores, 512-bit vectors, caches 32 KB, 1 MB, 32 MB`. */
export function machineWords(machine: Machine): string {
  const caches = machine.caches.map(bytes).join(', ');
  return `Code is made for ${machine.cpu}: ${machine.cores} cores, ${machine.vectorBits}-bit vectors, caches of ${caches}`;
}

function bytes(count: number): string {
  return count >= 1 << 20 ? `${+(count / (1 << 20)).toFixed(1)} MB` : `${+(count / (1 << 10)).toFixed(1)} KB`;
}
