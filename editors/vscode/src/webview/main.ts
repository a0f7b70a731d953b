// The page of the Schedule Studio.

import type { ToPage } from '../studio/data';
import { bytesWords } from '../studio/reading';
import { h } from './dom';
import { history, limits, measuring, roofline } from './figures';
import { isDragging, nest } from './nest';
import { schedule } from './schedule';
import { send, state } from './state';

const root = document.getElementById('studio')!;

window.addEventListener('message', ({ data }: MessageEvent<ToPage>) => {
  switch (data.type) {
    case 'studio':
      state.studio = data.studio;
      state.message = '';
      break;
    case 'tweaks':
      state.isStale = data.tweaks === null;
      state.tweaks = data.tweaks ?? (state.tweaks?.op === state.studio?.op ? state.tweaks : null);
      break;
    case 'history':
      state.history = data.history;
      state.isMeasuring = data.isMeasuring;
      break;
    case 'settings':
      state.auto = data.auto;
      state.canRun = data.canRun;
      break;
    case 'message':
      state.message = data.text;
  }
  render();
});

document.addEventListener('keydown', (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === 'z' && !event.shiftKey) {
    event.preventDefault();
    send({ type: 'undo' });
  }
});

/** Show everything anew; what had the focus has it again. */
function render(): void {
  if (isDragging) {
    return;
  }
  const focused = (document.activeElement as HTMLElement | null)?.dataset?.['key'];
  root.replaceChildren(...(state.studio && !state.message ? whole() : [h('p', { class: 'quiet' }, state.message)]));
  root.dataset['version'] = String(state.studio?.version ?? '');
  root.dataset['stale'] = String(state.isStale);
  if (focused) {
    root.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }
}

function whole(): HTMLElement[] {
  const pictures = h('div', { class: 'pictures' }, roofline(), history());
  return [
    bar(),
    limits(),
    h('div', { class: 'columns' }, h('div', { class: 'side' }, schedule(), pictures), h('section', { class: 'main', 'aria-label': 'loops' }, h('h2', {}, 'Loops', legend()), nest(render))),
  ];
}

function bar(): HTMLElement {
  const { op, sizes, cases, case: shown, machine } = state.studio!;
  const caches = machine.caches.map((size, number) => `L${number + 1} ${bytesWords(size)}`).join(' · ');
  return h(
    'header',
    {},
    h('h1', {}, op),
    h(
      'select',
      {
        'aria-label': 'sizes',
        'data-key': 'sizes',
        title: sizes,
        change: (event: Event) => send({ type: 'sizes', name: (event.target as HTMLSelectElement).value }),
      },
      ...cases.map((each) => h('option', { value: each.name, selected: each.name === shown }, `${each.kind} ${each.name}`)),
      h('option', { value: 'open', selected: shown === null }, 'open sizes'),
    ),
    h('span', { class: 'quiet sizes' }, sizes),
    measuring(),
    h('span', { class: 'quiet machine', title: caches }, `${machine.cpu} · ${machine.cores} cores · ${machine.vectorBits} bits`),
  );
}

function legend(): HTMLElement {
  const names = state.studio!.machine.caches.map((_, number) => `L${number + 1}`);
  return h('span', { class: 'legend quiet' }, ' an iteration fits in ', ...[...names, 'memory'].map((name, at) => h('span', { class: `fits level${Math.min(at, 3)}` }, name)));
}

send({ type: 'ready' });
