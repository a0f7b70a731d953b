// The interpreter that is selected in the Python extension, where that is installed.

import * as vscode from 'vscode';

/** The part of the Python extension's interface that is used. */
interface Python {
  readonly environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(
      environment: { readonly path: string },
    ): Promise<{ readonly executable: { readonly uri?: vscode.Uri } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

const EXTENSION = 'ms-python.python';

/** The path of the interpreter for the first folder; undefined where none is selected. */
export async function selectedInterpreter(): Promise<string | undefined> {
  const { environments } = (await python()) ?? {};
  if (!environments) {
    return undefined;
  }
  const active = environments.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
  const environment = await environments.resolveEnvironment(active);
  return environment?.executable.uri?.fsPath;
}

/** Call back when another interpreter is selected. */
export async function onInterpreter(changed: () => void): Promise<vscode.Disposable | undefined> {
  return (await python())?.environments?.onDidChangeActiveEnvironmentPath(changed);
}

async function python(): Promise<Python | undefined> {
  const extension = vscode.extensions.getExtension<Python>(EXTENSION);
  try {
    return await extension?.activate();
  } catch {
    return undefined;
  }
}
