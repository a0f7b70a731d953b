import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Line, Tweaks } from '../../src/studio/data';
import { along, blocks, bytesWords, editOf, level, levelName, matched, rateWords } from '../../src/studio/reading';

const line = (depth: number, name: string | null): Line => ({
  depth, text: `for ${name}`, kind: name ? 'loop' : 'statement', line: null, source: null, name,
});
const loops = (...names: string[]) => names.map((name) => ({ name, moves: [] }));

test('loops find their changes by what schedules call them', () => {
  const lines = [line(0, 'C.jp'), line(1, null), line(1, 'Bp.jr'), line(1, 'C.jr'), line(2, 'C.ji.lane'), line(2, 'C.j')];
  assert.deepEqual(matched(lines, loops('jp', 'Bp.jr', 'jr', 'C.ji.lane', 'x')), [0, -1, 1, 2, 3, -1]);
});

test('a loop of the same short name is not taken twice', () => {
  assert.deepEqual(matched([line(0, 'A.i'), line(0, 'B.i')], loops('i', 'B.i')), [0, 1]);
});

test('a choice is the edit at its place, and none where there is none', () => {
  const tweaks: Tweaks = {
    op: 'f',
    version: 1,
    write: [{ id: 'w', title: '', edit: { n: 0 }, why: null }],
    lines: [{ text: '', moves: [{ id: 'up', title: '', edit: null, why: 'no' }] }],
    loops: [{ name: 'i', moves: [{ id: 'split', title: '', edit: { n: 1 }, why: null }] }],
    factors: [{ line: 0, value: 4, legal: [{ value: 8, divides: true, edit: { n: 2 } }] }],
    reorders: [{ loop: 'i', targets: [{ index: 1, edit: { n: 3 }, why: null }] }],
  };
  assert.deepEqual(editOf(tweaks, { of: 'write', move: 0 }), { n: 0 });
  assert.deepEqual(editOf(tweaks, { of: 'loops', index: 0, move: 0 }), { n: 1 });
  assert.deepEqual(editOf(tweaks, { of: 'factors', index: 0, move: 0 }), { n: 2 });
  assert.deepEqual(editOf(tweaks, { of: 'reorders', index: 0, move: 0 }), { n: 3 });
  assert.equal(editOf(tweaks, { of: 'lines', index: 0, move: 0 }), undefined);
  assert.equal(editOf(tweaks, { of: 'lines', index: 7, move: 0 }), undefined);
});

test('the cache that holds it', () => {
  const caches = [32 << 10, 1 << 20, 32 << 20];
  assert.deepEqual([1, 32 << 10, (32 << 10) + 1, 1 << 28].map((bytes) => level(bytes, caches)), [0, 0, 1, 3]);
  assert.deepEqual([0, 2, 3].map((at) => levelName(at, caches)), ['L1', 'L3', 'memory']);
  assert.equal(along(1, caches), 0);
  assert.equal(along(1 << 30, caches), 1);
  assert.ok(along(1 << 20, caches) > along(32 << 10, caches));
});

test('sizes and rates in words', () => {
  assert.deepEqual([12, 1536, 3 << 20].map(bytesWords), ['12 B', '1.5 KB', '3 MB']);
  assert.deepEqual([1.034e11, 2e12].map(rateWords), ['103 GFLOP/s', '2.00 TFLOP/s']);
});

test('lines are nested by their depth', () => {
  const found = blocks([line(0, 'a'), line(1, 'b'), line(2, null), line(1, 'c'), line(0, 'd')]);
  assert.deepEqual(found.map((each) => [each.line.name, each.body.length]), [['a', 2], ['d', 0]]);
  assert.equal(found[0]!.body[0]!.body[0]!.index, 2);
});
