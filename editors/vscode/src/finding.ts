// Where a server may be: the places in the order in which they are tried. Nothing is run or read here.

import * as path from 'path';

/** What is known before anything is tried. `selected` is the interpreter chosen in the Python extension. */
export interface Known {
  readonly selected: string | undefined;
  readonly python: string;
  readonly server: string;
  readonly folders: readonly string[];
  readonly path: string;
  readonly isTrusted: boolean;
  readonly isWindows: boolean;
}

/** A program that may be a server, or an interpreter that may have one; `why` ends the sentence "the server is ...". */
export interface Candidate {
  readonly kind: 'python' | 'server';
  readonly command: string;
  readonly why: string;
}

/** Names of folders in a workspace that may be virtual environments. */
const ENVIRONMENTS = ['.venv', 'venv', 'env', '.env'];

/** All candidates, the first to be tried first. In a workspace that is not trusted none of them is in it. */
export function candidates(known: Known, exists: (file: string) => boolean): Candidate[] {
  const found: Candidate[] = [];
  if (known.selected) {
    found.push({ kind: 'python', command: known.selected, why: 'of the interpreter selected in the Python extension' });
  }
  if (known.python) {
    found.push({ kind: 'python', command: known.python, why: 'of `tdl.python`' });
  }
  if (known.server) {
    found.push({ kind: 'server', command: known.server, why: 'what `tdl.server.path` says' });
  }
  for (const folder of known.folders) {
    for (const name of ENVIRONMENTS) {
      const command = interpreterIn(path.join(folder, name), known.isWindows);
      if (exists(command)) {
        found.push({ kind: 'python', command, why: `of the environment ${name} in the workspace` });
      }
    }
  }
  for (const folder of known.path.split(known.isWindows ? ';' : ':').filter(Boolean)) {
    found.push(...inFolder(folder, known.isWindows).filter((each) => exists(each.command)));
  }
  const isAllowed = (each: Candidate) => known.isTrusted || !isWithin(each.command, known.folders);
  return unique(found).filter(isAllowed);
}

/** The interpreter of a virtual environment. */
export function interpreterIn(environment: string, isWindows: boolean): string {
  return isWindows ? path.join(environment, 'Scripts', 'python.exe') : path.join(environment, 'bin', 'python');
}

/** `~` and `${workspaceFolder}` in a setting. */
export function expanded(setting: string, home: string, folder: string | undefined): string {
  const text = setting.trim().replace(/^~(?=$|[\\/])/, () => home);
  return folder === undefined ? text : text.replaceAll('${workspaceFolder}', folder);
}

function inFolder(folder: string, isWindows: boolean): Candidate[] {
  const ending = isWindows ? '.exe' : '';
  const at = (name: string) => path.join(folder, name + ending);
  const pythons = isWindows ? ['python'] : ['python3', 'python'];
  return [
    { kind: 'server' as const, command: at('tdlc'), why: 'the `tdlc` on PATH' },
    ...pythons.map((name) => ({ kind: 'python' as const, command: at(name), why: `of the \`${name}\` on PATH` })),
  ];
}

function isWithin(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => !path.relative(folder, file).startsWith('..'));
}

function unique(found: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>();
  return found.filter((each) => !seen.has(each.command) && seen.add(each.command));
}
