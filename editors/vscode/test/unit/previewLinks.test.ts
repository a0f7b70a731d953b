import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contains, type Link, linesFrom, placesOf, runs } from '../../src/previewLinks';

const at = (line: number, last = line, uri = 'file:///a.tdl') => ({
  uri,
  range: { start: { line, character: 4 }, end: { line: last, character: 9 } },
});
const LINKS: Link[] = [
  { line: 0, source: at(1) },
  { line: 2, source: at(1), schedule: at(5), step: 1 },
  { line: 3, source: at(1), schedule: at(5), step: 1 },
  { line: 4, schedule: at(6), step: 2 },
  { line: 9, source: at(1, 1, 'file:///b.tdl') },
];

test('a schedule line marks what it made, a definition all that computes it', () => {
  assert.deepEqual(linesFrom(LINKS, 'file:///a.tdl', { line: 5, character: 0 }), [2, 3]);
  assert.deepEqual(linesFrom(LINKS, 'file:///a.tdl', { line: 1, character: 7 }), [0, 2, 3]);
  assert.deepEqual(linesFrom(LINKS, 'file:///a.tdl', { line: 7, character: 7 }), []);
  assert.deepEqual(linesFrom(LINKS, 'file:///b.tdl', { line: 1, character: 7 }), [9]);
});

test('lines of a view lead to the schedule line first, each place once', () => {
  assert.deepEqual(placesOf(LINKS, 2, 4), [at(5), at(6), at(1)]);
  assert.deepEqual(placesOf(LINKS, 7, 8), []);
});

test('a range of several lines holds what is between its ends', () => {
  const { range } = at(3, 5);
  assert.equal(contains(range, { line: 3, character: 3 }), false);
  assert.equal(contains(range, { line: 4, character: 0 }), true);
  assert.equal(contains(range, { line: 5, character: 10 }), false);
});

test('neighbouring lines are one run', () => {
  assert.deepEqual(runs([4, 2, 3, 9, 3]), [[2, 4], [9, 9]]);
  assert.deepEqual(runs([]), []);
});
