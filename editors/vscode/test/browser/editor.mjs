// VS Code in a browser of its own: started for a test, driven by it, and ended with all that it left.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

const CHROMIUM = process.env.TDL_CHROMIUM ?? '/usr/bin/chromium';
const QUIET = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'workbench.tips.enabled': false,
  'chat.disableAIFeatures': true,
  'window.commandCenter': false,
  'git.enabled': false,
  'editor.minimap.enabled': false,
  'security.workspace.trust.enabled': false,
  'files.autoSave': 'off',
  'files.hotExit': 'off',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'editor.hover.delay': 100,
};

/** A folder that goes with the test. */
export function temporary(name) {
  return fs.mkdtempSync(path.join(os.tmpdir(), `tdl-${name}-`));
}

/**
 * Start the editor. `vsix` is installed in it; `settings` are the user's beyond the quiet ones; `workspace` is copied.
 * Gives `{url, workspace, stop, set}`;
 * `set` changes settings while it runs.
 */
export async function startEditor({ cache, vsix, workspace, settings = {}, args = [] }) {
  const home = temporary('editor');
  const copy = path.join(home, 'workspace');
  fs.cpSync(workspace, copy, { recursive: true });
  const set = (more) => {
    for (const scope of ['User', 'Machine']) { // some settings count only as the machine's, where the editor is remote
      fs.mkdirSync(path.join(home, 'data', scope), { recursive: true });
      fs.writeFileSync(path.join(home, 'data', scope, 'settings.json'), JSON.stringify({ ...SETTINGS, ...settings, ...more }));
    }
  };
  set({});
  const port = await freePort();
  const folders = ['--user-data-dir', path.join(home, 'data'), '--extensions-dir', path.join(home, 'extensions')];
  const env = { ...process.env, XDG_CONFIG_HOME: path.join(home, 'config'), EXTENSIONS_GALLERY: '{}' };
  delete env.PORT;
  const server = path.join(cache, 'code-server');
  if (vsix) {
    await finished(spawn(server, [...folders, '--install-extension', vsix], { env, stdio: 'ignore' }));
  }
  const log = fs.openSync(path.join(home, 'log'), 'w');
  const own = [
    '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry', '--disable-update-check',
    '--disable-getting-started-override', ...args,
  ];
  const child = spawn(server, [...folders, ...own], { env, stdio: ['ignore', log, log], detached: true });
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    try {
      process.kill(-child.pid, 'SIGTERM');
    } catch {
      // it went by itself
    }
    await Promise.race([new Promise((resolve) => child.once('exit', resolve)), pause(5000)]);
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    await until(async () => (await fetch(`${url}/healthz`)).ok, 60_000);
  } catch (error) {
    console.log(fs.readFileSync(path.join(home, 'log'), 'utf8'));
    await stop();
    throw error;
  }
  return { url, workspace: copy, stop, set };
}

/** A browser with one page. Requests that leave this machine, and errors on the page's console, are kept. */
export async function startBrowser({ width = 1440, height = 900 } = {}) {
  const profile = temporary('browser');
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM, headless: true, viewport: { width, height }, args: QUIET,
  });
  const page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(45_000);
  const strays = [];
  page.on('request', (request) => {
    const { hostname } = new URL(request.url());
    const isLocal = ['', '127.0.0.1', 'localhost'].includes(hostname);
    // where a webview's own files seem to be: its service worker answers, and nothing is asked of a network
    if (!isLocal && !hostname.endsWith('.vscode-resource.vscode-cdn.net')) {
      strays.push(request.url());
    }
  });
  const stop = async () => {
    await context.close();
    fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  return { page, strays, stop };
}

export function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Wait until something holds; what it throws counts as that it does not. */
export async function until(holds, limit = 30_000) {
  const end = Date.now() + limit;
  for (;;) {
    try {
      const value = await holds();
      if (value) {
        return value;
      }
    } catch (error) {
      if (Date.now() > end) {
        throw error;
      }
    }
    if (Date.now() > end) {
      throw new Error(`waited in vain for: ${holds}`);
    }
    await pause(50);
  }
}

function finished(child) {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${child.spawnfile} ended with ${code}`))));
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
