// What the server says of an op for the studio, and what the panel and its page say to each other.

import type { Location } from '../previewLinks';

export interface Touches {
  readonly bytes: number;
  readonly tensors: readonly { readonly tensor: string; readonly bytes: number; readonly written: boolean }[];
}

export interface Line {
  readonly depth: number;
  readonly text: string;
  readonly kind: 'loop' | 'call' | 'buffer' | 'statement';
  readonly line: number | null;
  readonly source: Location | null;
  readonly name?: string | null;
  readonly runs?: 'serial' | 'parallel' | 'vector' | 'unrolled';
  readonly extent?: number | null;
  readonly touches?: Touches | null;
}

export interface Step {
  readonly place: Location | null;
  readonly text: string;
  readonly changes: boolean;
  readonly refused: string | null;
}

export interface Limit {
  readonly kind: string;
  readonly words: string;
  readonly line: number | null;
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly threads: number;
  readonly vectorBits: number;
  readonly caches: readonly number[];
  readonly peak: number | null;
  readonly bandwidth: number | null;
}

/** The answer of `tdl/studio`. */
export interface Studio {
  readonly uri: string;
  readonly version: number;
  readonly op: string;
  readonly sizes: string;
  readonly case: string | null;
  readonly cases: readonly { readonly name: string; readonly kind: 'test' | 'bench' }[];
  readonly step: number;
  readonly schedule: Location | null;
  readonly steps: readonly Step[];
  readonly lines: readonly Line[];
  readonly total: Touches | null;
  readonly work: { readonly flops: number; readonly bytes: number } | null;
  readonly machine: Machine;
  readonly limits: readonly Limit[];
  readonly hotLoop: { readonly summary: string } | null;
}

export interface Move {
  readonly id: string;
  readonly title: string;
  readonly edit: object | null;
  readonly why: string | null;
}

/** The answer of `tdl/tweaks`. */
export interface Tweaks {
  readonly op: string;
  readonly version: number;
  readonly write: readonly Move[];
  readonly lines: readonly { readonly text: string; readonly moves: readonly Move[] }[];
  readonly loops: readonly { readonly name: string; readonly moves: readonly Move[] }[];
  readonly factors: readonly {
    readonly line: number;
    readonly value: number;
    readonly legal: readonly { readonly value: number; readonly divides: boolean; readonly edit: object }[];
  }[];
  readonly reorders: readonly {
    readonly loop: string;
    readonly targets: readonly { readonly index: number; readonly edit: object | null; readonly why: string | null }[];
  }[];
}

/** One measurement, with the schedule that gave it. */
export interface Measurement {
  readonly time: number;
  readonly sizes: string;
  readonly flops: number;
  readonly share: number;
  readonly seconds: number;
  readonly schedule: string;
}

/** A change that is offered, by its place in the answer of `tdl/tweaks`. */
export type Choice =
  | { readonly of: 'loops' | 'lines'; readonly index: number; readonly move: number }
  | { readonly of: 'write'; readonly move: number }
  | { readonly of: 'factors' | 'reorders'; readonly index: number; readonly move: number };

export type ToPage =
  | { readonly type: 'studio'; readonly studio: Studio }
  | { readonly type: 'tweaks'; readonly tweaks: Tweaks | null }
  | { readonly type: 'history'; readonly history: readonly Measurement[]; readonly isMeasuring: boolean }
  | { readonly type: 'settings'; readonly auto: boolean; readonly canRun: boolean }
  | { readonly type: 'message'; readonly text: string };

export type FromPage =
  | { readonly type: 'ready' }
  | { readonly type: 'step'; readonly step: number | null }
  | { readonly type: 'sizes'; readonly name: string }
  | { readonly type: 'reveal'; readonly place: Location }
  | { readonly type: 'choose'; readonly version: number; readonly choice: Choice }
  | { readonly type: 'measure' }
  | { readonly type: 'auto'; readonly on: boolean }
  | { readonly type: 'addBench' }
  | { readonly type: 'restore'; readonly index: number }
  | { readonly type: 'undo' };
