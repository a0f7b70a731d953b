// What the studio reads out of the answers: which change belongs to which loop, which cache holds what. Pure.

import type { Choice, Line, Tweaks } from './data';

/** For each line of the nest, the place of its loop in `tweaks.loops`; -1 where it has none. */
export function matched(lines: readonly Line[], loops: Tweaks['loops']): number[] {
  const free = new Set(loops.keys());
  return lines.map(({ name }) => {
    if (!name) {
      return -1;
    }
    for (const index of free) {
      const other = loops[index]!.name;
      if (name === other || name.endsWith(`.${other}`)) {
        free.delete(index);
        return index;
      }
    }
    return -1;
  });
}

/** The edit of a choice; undefined where there is none. */
export function editOf(tweaks: Tweaks, choice: Choice): object | undefined {
  switch (choice.of) {
    case 'write':
      return tweaks.write[choice.move]?.edit ?? undefined;
    case 'loops':
    case 'lines':
      return tweaks[choice.of][choice.index]?.moves[choice.move]?.edit ?? undefined;
    case 'factors':
      return tweaks.factors[choice.index]?.legal[choice.move]?.edit;
    case 'reorders':
      return tweaks.reorders[choice.index]?.targets[choice.move]?.edit ?? undefined;
  }
}

/** The number of the first cache that holds so many bytes, from 0; the number of caches where none does. */
export function level(bytes: number, caches: readonly number[]): number {
  const found = caches.findIndex((size) => bytes <= size);
  return found < 0 ? caches.length : found;
}

/** `L2`, or `memory` past the last cache. */
export function levelName(found: number, caches: readonly number[]): string {
  return found < caches.length ? `L${found + 1}` : 'memory';
}

/** How far along a bar, from 0 to 1, so many bytes are: logarithmic, from 64 bytes to four times the last cache. */
export function along(bytes: number, caches: readonly number[]): number {
  const first = Math.log2(64);
  const last = Math.log2(4 * (caches[caches.length - 1] ?? 1 << 25));
  return Math.min(1, Math.max(0, (Math.log2(Math.max(bytes, 1)) - first) / (last - first)));
}

/** `1.5 MB`. */
export function bytesWords(bytes: number): string {
  for (const [unit, name] of [[2 ** 30, 'GB'], [2 ** 20, 'MB'], [2 ** 10, 'KB']] as const) {
    if (bytes >= unit) {
      return `${Number((bytes / unit).toPrecision(3))} ${name}`;
    }
  }
  return `${bytes} B`;
}

/** `103 GFLOP/s`. */
export function rateWords(flops: number): string {
  return flops >= 1e12 ? `${(flops / 1e12).toPrecision(3)} TFLOP/s` : `${Number((flops / 1e9).toPrecision(3))} GFLOP/s`;
}

/** A nest of lines by their depth: each with what is in it. */
export interface Block {
  readonly line: Line;
  readonly index: number;
  readonly body: Block[];
}

export function blocks(lines: readonly Line[]): Block[] {
  const top: Block[] = [];
  const open: Block[] = [];
  lines.forEach((line, index) => {
    const block: Block = { line, index, body: [] };
    while (open.length > 0 && open[open.length - 1]!.line.depth >= line.depth) {
      open.pop();
    }
    (open[open.length - 1]?.body ?? top).push(block);
    open.push(block);
  });
  return top;
}
