// Runs build/host/suite.js inside the real extension host. usage: node test/browser/host.mjs CACHE PYTHON

import path from 'node:path';
import { pause, startBrowser, startEditor } from './editor.mjs';

const [cache, python] = process.argv.slice(2);
const root = path.resolve(import.meta.dirname, '..', '..');
const suite = path.join(root, 'build', 'host', 'suite.js');
const editor = await startEditor({
  cache,
  workspace: path.join(root, 'test', 'workspace'),
  settings: { 'tdl.python': python },
  args: ['--disable-workspace-trust'],
});
const browser = await startBrowser();
let code = 1;
try {
  const { page } = browser;
  const ended = new Promise((resolve) => page.exposeFunction('codeAutomationExit', resolve));
  await page.exposeFunction('codeAutomationLog', (_, args) => {
    const text = args.join(' ');
    if (process.env.VERBOSE || /^(ok|FAIL|\d+ passed|    )/.test(text)) {
      console.log(text);
    }
  });
  // A VS Code that was built runs the tests of a payload only with the driver of its smoke tests.
  await page.addInitScript(() => {
    const observer = new MutationObserver(() => {
      const meta = document.getElementById('vscode-workbench-web-configuration');
      if (meta) {
        observer.disconnect();
        const settings = JSON.parse(meta.dataset.settings);
        settings.developmentOptions = { ...settings.developmentOptions, enableSmokeTestDriver: true };
        meta.dataset.settings = JSON.stringify(settings);
      }
    });
    if (location.pathname === '/') {
      observer.observe(document, { childList: true, subtree: true });
    }
  });
  const remote = (file) => `vscode-remote://${new URL(editor.url).host}${file}`;
  const payload = [['extensionDevelopmentPath', remote(root)], ['extensionTestsPath', remote(suite)]];
  const query = new URLSearchParams({ folder: editor.workspace, payload: JSON.stringify(payload) });
  await page.goto(`${editor.url}/?${query}`);
  code = await Promise.race([ended, pause(240_000).then(() => 'nothing in four minutes')]);
  if (code !== 0) {
    await page.screenshot({ path: path.join(root, 'build', 'host-failed.png') });
    console.log(`the extension host ended with: ${code}`);
  }
} finally {
  await browser.stop();
  await editor.stop();
}
process.exit(code === 0 ? 0 : 1);
