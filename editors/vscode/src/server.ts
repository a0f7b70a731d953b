// The language server of a window: found, started, stopped, and its state told.

import * as fs from 'fs';
import * as os from 'os';
import * as vscode from 'vscode';
import {
  type InitializeParams,
  LanguageClient,
  type LanguageClientOptions,
  type Middleware,
  State,
} from 'vscode-languageclient/node';
import { candidates, expanded } from './finding';
import { type Found, firstFound } from './probing';
import { selectedInterpreter } from './python';
import { settings } from './settings';

export type Status =
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly found: Found }
  | { readonly kind: 'stopped'; readonly reason: string }
  | { readonly kind: 'missing' };

/** Languages that the server is asked about. */
export const SELECTOR = [{ language: 'tdl', scheme: 'file' }, { language: 'tdl', scheme: 'untitled' }];

export class Server implements vscode.Disposable {
  readonly output = vscode.window.createOutputChannel('TDL', { log: true });
  private readonly trace = vscode.window.createOutputChannel('TDL trace', { log: true });
  private readonly changed = new vscode.EventEmitter<Status>();
  readonly onStatus = this.changed.event;
  private client: LanguageClient | undefined;
  private turn: Promise<void> = Promise.resolve();
  status: Status = { kind: 'starting' };

  constructor(private readonly middleware: Middleware) {}

  /** Stop the server if there is one, and start the one that is found now. Calls wait for one another. */
  restart(): Promise<void> {
    this.turn = this.turn.then(() => this.startAnew()).catch((error: Error) => this.fail(error));
    return this.turn;
  }

  /** The answer to a request; undefined where no server runs. What the server refuses is thrown. */
  async ask<T>(method: string, params: unknown, token?: vscode.CancellationToken): Promise<T | undefined> {
    await this.turn;
    if (this.client?.state !== State.Running) {
      return undefined;
    }
    return token
      ? await this.client.sendRequest<T>(method, params, token)
      : await this.client.sendRequest<T>(method, params);
  }

  /** An edit as the editor takes it. */
  async edit(edit: object): Promise<vscode.WorkspaceEdit | undefined> {
    return this.client?.protocol2CodeConverter.asWorkspaceEdit(edit);
  }

  uri(uri: vscode.Uri): string {
    return this.client?.code2ProtocolConverter.asUri(uri) ?? uri.toString();
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client) {
      await client.dispose(2000).catch(() => undefined);
    }
  }

  dispose(): Promise<void> {
    return this.stop();
  }

  private async startAnew(): Promise<void> {
    await this.stop();
    this.tell({ kind: 'starting' });
    const found = await this.find();
    if (!found) {
      this.output.error('no server was found; install one with the command "TDL: Install the Language Server"');
      this.tell({ kind: 'missing' });
      return;
    }
    this.output.info(`the server is ${found.command}, ${found.why}, version ${found.version}`);
    const client = this.made(found);
    client.onDidChangeState(({ newState }) => {
      if (client !== this.client) {
        return;
      }
      if (newState === State.Running) {
        this.tell({ kind: 'running', found });
      } else if (newState === State.Stopped) {
        this.tell({ kind: 'stopped', reason: 'the server ended; its output says more' });
      }
    });
    this.client = client;
    await client.start();
  }

  private async find(): Promise<Found | undefined> {
    const folders = (vscode.workspace.workspaceFolders ?? []).map((each) => each.uri.fsPath);
    const given = settings();
    const known = {
      selected: await selectedInterpreter(),
      python: expanded(given.python, os.homedir(), folders[0]),
      server: expanded(given.server, os.homedir(), folders[0]),
      folders,
      path: process.env['PATH'] ?? '',
      isTrusted: vscode.workspace.isTrusted,
      isWindows: process.platform === 'win32',
    };
    const all = candidates(known, (file) => fs.existsSync(file));
    return firstFound(all, (each, reason) => this.output.info(`no server: ${each.command}, ${each.why}: ${reason}`));
  }

  private made(found: Found): LanguageClient {
    const given = settings();
    const threads = given.threads > 0 ? { TDL_NUM_THREADS: String(given.threads) } : {};
    const options: LanguageClientOptions = {
      documentSelector: SELECTOR,
      outputChannel: this.output,
      traceOutputChannel: this.trace,
      initializationOptions: { canRun: vscode.workspace.isTrusted } satisfies InitializeParams['initializationOptions'],
      middleware: this.middleware,
    };
    const run = {
      command: found.command,
      args: [...found.args, ...given.arguments],
      options: { env: { ...process.env, ...threads } },
    };
    return new LanguageClient('tdl', 'TDL', run, options);
  }

  private fail(error: Error): void {
    this.output.error(`the server does not start: ${error.message}`);
    this.tell({ kind: 'stopped', reason: error.message });
  }

  private tell(status: Status): void {
    this.status = status;
    this.changed.fire(status);
  }
}
