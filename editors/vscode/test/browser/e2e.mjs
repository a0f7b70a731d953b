// What a person does, in the real editor in a real browser.
//
//   node test/browser/e2e.mjs CACHE VSIX PYTHON [PICTURES]      with PICTURES, a folder: pictures in both themes

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { pause, startBrowser, startEditor, until } from './editor.mjs';

const [cache, vsix, python, pictures] = process.argv.slice(2);
const root = path.resolve(import.meta.dirname, '..', '..');
const DARK = 'Default Dark Modern';
const LIGHT = 'Default Light Modern';
const SETTINGS = { 'tdl.python': python, 'tdl.bench.seconds': 0.2, 'workbench.colorTheme': DARK };

const editor = await startEditor({ cache, vsix, workspace: path.join(root, 'test', 'workspace'), settings: SETTINGS, args: ['--disable-workspace-trust'] });
const browser = await startBrowser();
const { page } = browser;
const source = page.locator('.editor-group-container').first();
const studio = page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
const line = (text) => source.locator('.view-line', { hasText: text }).first();
const code = (text) => text.replaceAll(' ', '\u00a0'); // as the editor writes blanks

async function palette(command) {
  await page.keyboard.press('F1');
  await page.locator('.quick-input-widget input').first().fill(`>${command}`);
  await page.locator('.quick-input-list .monaco-list-row', { hasText: command }).first().waitFor();
  await page.keyboard.press('Enter');
}

async function open(name) {
  await page.keyboard.press('Control+P');
  await page.locator('.quick-input-widget input').first().fill(name);
  await page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.tab.active', { hasText: name }).first().waitFor();
}

async function picture(name) {
  if (!pictures) {
    return;
  }
  fs.mkdirSync(pictures, { recursive: true });
  for (const [theme, ending] of [[LIGHT, 'light'], [DARK, 'dark']]) {
    editor.set({ 'workbench.colorTheme': theme });
    await page.locator(`.monaco-workbench.${ending === 'dark' ? 'vs-dark' : 'vs'}`).waitFor();
    await pause(1200); // colours of the webview follow
    await page.screenshot({ path: path.join(pictures, `vscode-${name}-${ending}.png`) });
  }
}

/** The text of the program, as it is in the editor. */
async function text(of) {
  return (await line(of).innerText()).replaceAll('\u00a0', ' ').trim();
}

async function fresh() {
  await studio.locator('#studio[data-stale="false"]').waitFor({ timeout: 90_000 });
}

/** How deep a loop is in the nest that the studio shows. */
async function depth(name) {
  return studio.locator(`[data-key="loop:${name}"]`).evaluate((each) => {
    let depth = 0;
    for (let at = each; at; at = at.parentElement) {
      depth += 1;
    }
    return depth;
  });
}

const tests = {
  'a file opens in its colours': async () => {
    await page.goto(`${editor.url}/?folder=${editor.workspace}`);
    await page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'wrong.tdl' }).waitFor({ timeout: 90_000 });
    await open('wrong.tdl');
    await page.locator('.statusbar-item', { hasText: /^TDL$/ }).first().waitFor();
    const colours = () =>
      line(code('op relu')).evaluate((each) => [...each.querySelectorAll('span span')].map((part) => getComputedStyle(part).color));
    await until(async () => new Set(await colours()).size > 2);
  },
  'a squiggle under what is wrong': async () => {
    await page.locator('.squiggly-error').first().waitFor({ timeout: 90_000 });
    await page.locator('.statusbar-item', { hasText: /^TDL \d/ }).first().waitFor();
  },
  'a hover says what is wrong': async () => {
    const hover = page.locator('.monaco-hover:visible', { hasText: 'zero' }).first();
    await page.locator('.codelens-decoration a', { hasText: 'run test' }).first().waitFor(); // they push lines down
    await until(async () => {
      await page.mouse.move(900, 700);
      const box = await page.locator('.squiggly-error').first().boundingBox();
      await page.mouse.move(box.x + box.width / 2 - 3, box.y + box.height / 2);
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 4 });
      return hover.waitFor({ timeout: 3000 }).then(() => true, () => false);
    });
    await picture('errors');
    await page.keyboard.press('Escape');
    await page.mouse.move(900, 700);
  },
  'a quick fix': async () => {
    await line('vectorize').click({ position: { x: 110, y: 8 } });
    await page.keyboard.press('Home');
    for (let word = 0; word < 2; word += 1) {
      await page.keyboard.press('Control+ArrowRight');
    }
    const fix = page.locator('.action-widget .monaco-list-row.action', { hasText: 'change to' }).first();
    await until(async () => {
      await page.keyboard.press('Control+.');
      return fix.waitFor({ timeout: 4000 }).then(() => true, () => false);
    });
    await fix.click();
    await until(async () => (await text('vectorize')) === 'vectorize inner by 8');
    await page.keyboard.press('Control+S');
  },
  'generated code beside the source, with links both ways': async () => {
    await open('product.tdl');
    await line(code('vectorize ji')).click();
    await palette('TDL: Show Generated Code');
    const view = page.locator('.editor-group-container').nth(1);
    await view.locator('.view-line', { hasText: code('vector for') }).first().waitFor({ timeout: 60_000 });
    const marks = (group) => group.locator('.view-overlays [class*="ced-"]');
    await marks(view).first().waitFor();
    await view.locator('.view-line', { hasText: code('arena Bp') }).first().click();
    await marks(source).first().waitFor();
    await line(code('unroll ii')).click();
    await marks(view).first().waitFor();
    await picture('loops');
  },
  'another stage': async () => {
    await palette('TDL: Choose the Stage');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'machine code' }).first().click();
    const view = page.locator('.editor-group-container').nth(1);
    await view.locator('.codelens-decoration a', { hasText: 'fma' }).first().waitFor({ timeout: 60_000 });
    await view.locator('.codelens-decoration a', { hasText: 'fma' }).first().click();
    await view.locator('.view-line', { hasText: 'vfmadd' }).first().waitFor();
    await line(code('vectorize ji')).click();
    await pause(600);
    await picture('assembly');
    await palette('View: Close Editors in Other Groups');
    await view.waitFor({ state: 'detached' });
  },
  'the studio shows the nest': async () => {
    await line(code('split C.k')).click();
    await palette('TDL: Open the Schedule Studio');
    await studio.locator('.nest .loop').first().waitFor({ timeout: 60_000 });
    await page.keyboard.press('Control+B');
    await fresh();
    assert.equal(await studio.locator('[data-key="loop:C.ki"] .extent').innerText(), '×256');
    assert.match(await studio.locator('[data-key="loop:C.jp"] .fits').innerText(), /L\d|memory/);
  },
  'a step back and forth': async () => {
    const scrubber = studio.locator('[data-key="scrubber"]');
    await scrubber.focus();
    await page.keyboard.press('Home');
    await studio.locator('[data-key="loop:C.i"]').waitFor();
    await page.keyboard.press('End');
    await studio.locator('[data-key="loop:C.ki"]').waitFor();
  },
  'a loop is dragged, and that is undone': async () => {
    await fresh();
    const [from, to] = [studio.locator('[data-key="loop:C.ii"] .grip'), studio.locator('[data-key="loop:C.ki"]')];
    await from.scrollIntoViewIfNeeded();
    const [a, b] = [await from.boundingBox(), await to.boundingBox()];
    await page.mouse.move(a.x + a.width / 2, a.y + a.height / 2);
    await page.mouse.down();
    await page.mouse.move(b.x + 60, b.y + b.height / 2, { steps: 6 });
    await page.mouse.up();
    await line(code('reorder ii, ki')).waitFor();
    await until(async () => (await depth('C.ii')) < (await depth('C.ki')));
    await studio.locator('[data-key="loop:C.ki"]').focus();
    await page.keyboard.press('Control+z');
    await line(code('reorder ii, ki')).waitFor({ state: 'detached' });
  },
  'the same by keys': async () => {
    await fresh();
    await studio.locator('[data-key="loop:C.ki"]').focus();
    await page.keyboard.press('Alt+ArrowDown');
    await line(code('reorder ii, ki')).waitFor();
    await until(async () => (await depth('C.ii')) < (await depth('C.ki')));
    await studio.locator('[data-key="loop:C.ki"]').focus();
    await page.keyboard.press('Control+z');
    await line(code('reorder ii, ki')).waitFor({ state: 'detached' });
  },
  'a factor is moved to a legal value, and that is undone': async () => {
    await fresh();
    await studio.locator('[data-key="factor:2"]').focus();
    await page.keyboard.press('ArrowRight');
    await until(async () => (await text('split C.k')).startsWith('split C.k by 384'));
    await studio.locator('.step', { hasText: 'by 384' }).waitFor();
    await studio.locator('[data-key="factor:2"]').focus();
    await page.keyboard.press('Control+z');
    await until(async () => (await text('split C.k')).startsWith('split C.k by 256'));
  },
  'a button of a loop': async () => {
    await fresh();
    await studio.locator('[aria-label="changes of C.ko"]').click();
    assert.match(await studio.locator('.refused summary').first().innerText(), /cannot be done/);
    await studio.locator('.action', { hasText: 'unroll ko' }).click();
    await line(code('unroll ko')).waitFor();
    await studio.locator('[data-key="loop:C.ko"]').focus();
    await page.keyboard.press('Control+z');
    await line(code('unroll ko')).waitFor({ state: 'detached' });
    await studio.locator('[aria-label="changes of C.ko"]').click();
  },
  'a bench is run, and its figure kept': async () => {
    await studio.locator('[data-key="measure"]').click();
    await studio.locator('.figure', { hasText: 'FLOP/s' }).waitFor({ timeout: 90_000 });
    await studio.locator('.history circle').first().waitFor();
    await studio.locator('.roofline .point').waitFor();
  },
  'a measurement is returned to': async () => {
    await fresh();
    await studio.locator('[data-key="factor:2"]').focus();
    await page.keyboard.press('ArrowRight');
    await until(async () => (await text('split C.k')).startsWith('split C.k by 384'));
    await fresh();
    await studio.locator('[data-key="measure"]').click();
    await until(async () => (await studio.locator('.history circle').count()) === 2, 90_000);
    await studio.locator('[data-key="history:0"]').focus();
    await page.keyboard.press('Enter');
    await until(async () => (await text('split C.k')).startsWith('split C.k by 256'));
    await fresh();
    await page.mouse.move(20, 500);
    await studio.locator('h1').evaluate((each) => each.ownerDocument.documentElement.scrollTo(0, 0));
    await page.setViewportSize({ width: 1680, height: 1000 });
    await pause(600);
    await picture('studio');
  },
  'nothing left this machine': async () => {
    assert.deepEqual([...new Set(browser.strays)], []);
  },
};

let failed = 0;
for (const [name, run] of Object.entries(tests)) {
  const start = Date.now();
  try {
    await run();
    console.log(`ok   ${name} (${Date.now() - start} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}\n    ${error.stack.split('\n').slice(0, 12).join('\n    ')}`);
    await page.screenshot({ path: path.join(root, 'build', `failed-${failed}.png`) }).catch(() => undefined);
    break; // what follows goes on from here
  }
}
await browser.stop();
await editor.stop();
console.log(`${failed ? 0 : Object.keys(tests).length} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
