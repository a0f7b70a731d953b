// Bundles the extension and its webview into dist/; with --tests also the tests into build/.

import { build } from 'esbuild';
import fs from 'node:fs';
import path from 'node:path';

const isTests = process.argv.includes('--tests');
const common = { bundle: true, minify: !isTests, sourcemap: false, legalComments: 'none', logLevel: 'warning' };
const node = { ...common, platform: 'node', target: 'node20', format: 'cjs', external: ['vscode'] };

/** Every file of a folder of tests, as an entry of its own. */
function tests(folder) {
  return fs.readdirSync(folder).filter((name) => name.endsWith('.ts')).map((name) => path.join(folder, name));
}

await build({ ...node, entryPoints: ['src/extension.ts'], outfile: 'dist/extension.js' });
await build({ ...common, platform: 'browser', target: 'es2022', format: 'iife', entryPoints: ['src/webview/main.ts'], outfile: 'dist/studio.js' });
if (isTests) {
  await build({ ...node, entryPoints: tests('test/unit'), outdir: 'build/unit' });
  await build({ ...node, entryPoints: ['test/host/suite.ts'], outfile: 'build/host/suite.js' });
}
