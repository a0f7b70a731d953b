import assert from 'node:assert/strict';
import { test } from 'node:test';
import { caseAt, casesOf } from '../../src/cases';

const TEXT = [
  'op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }',
  'test one: f(X=[1])',
  '# bench none: f(N=1)',
  'bench big:std.f(N=1000)',
  '  test two : f(N=3)',
].join('\r\n');

test('tests and benches with their lines', () => {
  assert.deepEqual(casesOf(TEXT, 'test').map(({ name, op, line }) => [name, op, line]), [['one', 'f', 1], ['two', 'f', 4]]);
  assert.deepEqual(casesOf(TEXT, 'bench').map(({ name, op, line }) => [name, op, line]), [['big', 'std.f', 3]]);
});

test('the case on the line, or the only one of the op', () => {
  const tests = casesOf(TEXT, 'test');
  assert.equal(caseAt(tests, 4, undefined)?.name, 'two');
  assert.equal(caseAt(tests, 0, 'f'), undefined);
  assert.equal(caseAt(casesOf(TEXT, 'bench'), 0, 'std.f')?.name, 'big');
});
