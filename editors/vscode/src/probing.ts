// Whether a candidate is a server, and how to start it.

import { execFile } from 'child_process';
import type { Candidate } from './finding';

/** How to start a server that was found. */
export interface Found {
  readonly command: string;
  readonly args: readonly string[];
  readonly version: string;
  readonly why: string;
}

/** Says the version of a TDL that has all a server needs; fails where something is missing. */
const PROBE = `
import importlib.util, sys
missing = [name for name in ("tdl.lsp", "pygls", "lsprotocol") if importlib.util.find_spec(name) is None]
if missing:
    sys.exit("it lacks " + ", ".join(missing))
from tdl.compiler.version import VERSION
print(VERSION)
`;

/** The server of a candidate. Rejects with the reason where there is none. */
export async function probe(candidate: Candidate): Promise<Found> {
  const { command, why } = candidate;
  if (candidate.kind === 'server') {
    const said = await output(command, ['--version']);
    return { command, args: ['lsp'], version: said.split(/\s+/).pop() ?? '', why };
  }
  const version = await output(command, ['-c', PROBE]);
  return { command, args: ['-m', 'tdl.compiler.cli.main', 'lsp'], version, why };
}

/** The first candidate that is a server; each that is not is told with the reason. */
export async function firstFound(
  candidates: readonly Candidate[],
  refused: (candidate: Candidate, reason: string) => void,
): Promise<Found | undefined> {
  for (const candidate of candidates) {
    try {
      return await probe(candidate);
    } catch (error) {
      refused(candidate, (error as Error).message);
    }
  }
  return undefined;
}

function output(command: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { timeout: 60_000, windowsHide: true }, (error, stdout, stderr) => {
      if (error) {
        reject(new Error(lastLine(stderr) || error.message));
      } else {
        resolve(stdout.trim());
      }
    });
  });
}

function lastLine(text: string): string {
  return text.trim().split('\n').pop() ?? '';
}
