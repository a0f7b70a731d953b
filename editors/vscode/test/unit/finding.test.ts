import assert from 'node:assert/strict';
import { test } from 'node:test';
import { candidates, expanded, type Known } from '../../src/finding';

const KNOWN: Known = {
  selected: undefined,
  python: '',
  server: '',
  folders: ['/work space/a', '/b'],
  path: '/usr/bin:/opt/bin',
  isTrusted: true,
  isWindows: false,
};

const commands = (known: Partial<Known>, files: readonly string[] = []) =>
  candidates({ ...KNOWN, ...known }, (file) => files.includes(file)).map((each) => each.command);

test('the places come in the order that is documented', () => {
  const files = ['/b/venv/bin/python', '/work space/a/.venv/bin/python', '/opt/bin/tdlc', '/usr/bin/python3'];
  assert.deepEqual(commands({ selected: '/conda/python', python: '/own/python', server: '/own/tdlc' }, files), [
    '/conda/python',
    '/own/python',
    '/own/tdlc',
    '/work space/a/.venv/bin/python',
    '/b/venv/bin/python',
    '/usr/bin/python3',
    '/opt/bin/tdlc',
  ]);
});

test('each place is tried once', () => {
  const files = ['/b/.venv/bin/python'];
  assert.deepEqual(commands({ selected: '/b/.venv/bin/python', python: '/b/.venv/bin/python' }, files), [
    '/b/.venv/bin/python',
  ]);
});

test('nothing in a workspace that is not trusted is run', () => {
  const files = ['/b/.venv/bin/python', '/usr/bin/tdlc'];
  assert.deepEqual(commands({ isTrusted: false, selected: '/b/sub/python', python: '/b/../b/python' }, files), [
    '/usr/bin/tdlc',
  ]);
  assert.deepEqual(commands({ isTrusted: false, selected: '/bb/python' }), ['/bb/python']);
});

test('nothing is found where nothing is', () => {
  assert.deepEqual(commands({ path: '' }), []);
});

test('home and folder in settings', () => {
  assert.equal(expanded('~/env/bin/python', '/home/me', undefined), '/home/me/env/bin/python');
  assert.equal(expanded('${workspaceFolder}/.venv/bin/python', '/home/me', '/a$1'), '/a$1/.venv/bin/python');
  assert.equal(expanded(' /x/~y ', '/home/me', '/a'), '/x/~y');
});
