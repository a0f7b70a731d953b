// Tests and benches of a text, and which of them a cursor is at.

export type Kind = 'test' | 'bench';

export interface Case {
  readonly kind: Kind;
  readonly name: string;
  readonly op: string;
  readonly line: number;
}

const CASE = /^\s*(test|bench)\s+([^\W\d]\w*)\s*:\s*([^\W\d]\w*(?:\.[^\W\d]\w*)*)/;

/** All cases of a kind, from first to last. */
export function casesOf(text: string, kind: Kind): Case[] {
  const found: Case[] = [];
  text.split(/\r\n?|\n/).forEach((content, line) => {
    const match = CASE.exec(content);
    if (match && match[1] === kind) {
      found.push({ kind, name: match[2]!, op: match[3]!, line });
    }
  });
  return found;
}

/** The case on a line, or the only one of the op; undefined where a choice is left. */
export function caseAt(cases: readonly Case[], line: number, op: string | undefined): Case | undefined {
  const here = cases.find((each) => each.line === line);
  if (here) {
    return here;
  }
  const ofOp = op === undefined ? cases : cases.filter((each) => each.op === op);
  return ofOp.length === 1 ? ofOp[0] : undefined;
}
