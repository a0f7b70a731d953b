// What bounds the op, the roofline with its point, and the measurements so far.

import type { Measurement } from '../studio/data';
import { bytesWords, rateWords } from '../studio/reading';
import { h, s, words } from './dom';
import { send, state } from './state';

const TITLES: Record<string, string> = {
  spills: 'registers',
  vectors: 'vector width',
  tail: 'tail',
  cores: 'cores',
  memory: 'memory',
  compute: 'computing',
};

export function limits(): HTMLElement {
  const { limits: found, hotLoop, steps } = state.studio!;
  return h(
    'section',
    { class: 'limits', 'aria-label': 'what bounds it' },
    h('h2', {}, 'What bounds it'),
    h(
      'ul',
      {},
      ...found.map((each) => {
        const place = each.line === null ? null : steps[each.line]?.place;
        return h(
          'li',
          { class: each.kind },
          h('b', {}, TITLES[each.kind] ?? each.kind),
          ' ',
          words(each.words),
          ' ',
          place && h('button', { class: 'blame', click: () => send({ type: 'reveal', place }) }, steps[each.line!]!.text),
        );
      }),
      found.length === 0 && h('li', { class: 'quiet' }, state.studio!.work ? 'nothing that is known' : 'sizes are open: add a bench'),
    ),
    h('p', { class: 'hot quiet' }, hotLoop ? `hot loop: ${hotLoop.summary}` : ' '),
  );
}

/** The button, the switch and the last figure. */
export function measuring(): HTMLElement {
  const studio = state.studio!;
  const hasBench = studio.cases.some((each) => each.kind === 'bench' && each.name === studio.case);
  const last = state.history[state.history.length - 1];
  return h(
    'div',
    { class: 'measuring' },
    hasBench || studio.cases.some((each) => each.kind === 'bench')
      ? h(
          'button',
          {
            class: 'primary',
            disabled: state.isMeasuring || !state.canRun || !hasBench,
            'data-key': 'measure',
            title: state.canRun ? 'run the bench' : 'the workspace is not trusted: nothing is run',
            click: () => send({ type: 'measure' }),
          },
          state.isMeasuring ? 'Measuring …' : 'Measure',
        )
      : h('button', { class: 'primary', 'data-key': 'addBench', click: () => send({ type: 'addBench' }) }, 'Add a bench'),
    h(
      'label',
      { class: 'auto', title: 'measure after every change' },
      h('input', {
        type: 'checkbox',
        checked: state.auto,
        disabled: !state.canRun,
        'data-key': 'auto',
        change: (event: Event) => {
          state.auto = (event.target as HTMLInputElement).checked;
          send({ type: 'auto', on: state.auto });
        },
      }),
      'auto',
    ),
    last && h('output', { class: 'figure' }, rateWords(last.flops), h('span', { class: 'quiet' }, ` ${Math.round(last.share * 100)}% of peak`)),
  );
}

// ---- pictures

const WIDTH = 320;
const HEIGHT = 170;
const LEFT = 40;
const BOTTOM = 26;
const TOP = 12;
const RIGHT = 12;

export function roofline(): HTMLElement | null {
  const { work, machine } = state.studio!;
  if (!work || !machine.peak || !machine.bandwidth) {
    return h('section', {}, h('h2', {}, 'Roofline'), h('p', { class: 'quiet' }, 'Measure once: the machine is measured with it.'));
  }
  const intensity = work.flops / Math.max(work.bytes, 1);
  const ridge = machine.peak / machine.bandwidth;
  const [left, right] = [Math.min(ridge, intensity) / 8, Math.max(ridge, intensity) * 8];
  const [low, high] = [Math.min(machine.bandwidth * left, machine.peak / 200), machine.peak * 2];
  const x = (value: number) => LEFT + ((WIDTH - LEFT - RIGHT) * Math.log(value / left)) / Math.log(right / left);
  const y = (value: number) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * Math.log(Math.max(value, low) / low)) / Math.log(high / low);
  const roof = `${x(left)},${y(machine.bandwidth * left)} ${x(ridge)},${y(machine.peak)} ${x(right)},${y(machine.peak)}`;
  const here = state.history.filter((each) => each.sizes === state.studio!.sizes);
  const last = here[here.length - 1];
  const attainable = Math.min(machine.peak, machine.bandwidth * intensity);
  return h(
    'section',
    { class: 'roofline' },
    h('h2', {}, 'Roofline'),
    s(
      'svg',
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        role: 'img',
        'aria-label': `${intensity.toPrecision(3)} operations a byte; at most ${rateWords(attainable)}${last ? `, measured ${rateWords(last.flops)}` : ''}`,
      },
      axis(x(left), y(low), x(right), y(low)),
      axis(x(left), y(low), x(left), TOP),
      s('polyline', { points: roof, class: 'roof' }),
      s('line', { x1: x(intensity), y1: y(low), x2: x(intensity), y2: y(attainable), class: 'drop' }),
      s('circle', { cx: x(intensity), cy: y(attainable), r: 3, class: 'attainable' }),
      ...here.slice(0, -1).map((each) => s('circle', { cx: x(intensity), cy: y(each.flops), r: 2.5, class: 'past' })),
      last && s('circle', { cx: x(intensity), cy: y(last.flops), r: 5, class: 'point' }),
      last && label(x(intensity) - 9, y(last.flops) + 4, rateWords(last.flops), 'end'),
      label(x(right), y(machine.peak) - 6, rateWords(machine.peak), 'end'),
      label(x(left) + 4, TOP + 4, `${bytesWords(machine.bandwidth)}/s`, 'start'),
      label((LEFT + WIDTH) / 2, HEIGHT - 8, `operations a byte: ${Number(intensity.toPrecision(3))}`, 'middle'),
    ),
  );
}

/** Every measurement of the op; each can be returned to. */
export function history(): HTMLElement | null {
  const all = state.history;
  if (all.length === 0) {
    return null;
  }
  const most = Math.max(...all.map((each) => each.flops));
  const height = 110;
  const x = (at: number) => LEFT + ((WIDTH - LEFT - RIGHT) * (at + 0.5)) / all.length;
  const y = (value: number) => height - 14 - ((height - 30) * value) / most;
  return h(
    'section',
    { class: 'history' },
    h('h2', {}, 'Measurements', h('span', { class: 'quiet' }, ' click one to return to its schedule')),
    s(
      'svg',
      { viewBox: `0 0 ${WIDTH} ${height}`, role: 'group', 'aria-label': 'measurements' },
      axis(LEFT, height - 14, WIDTH - RIGHT, height - 14),
      label(LEFT - 4, y(most) + 4, String(Number((most / 1e9).toPrecision(3))), 'end'),
      label(LEFT - 4, height - 12, '0', 'end'),
      s('polyline', { class: 'trend', points: all.map((each, at) => `${x(at)},${y(each.flops)}`).join(' ') }),
      ...all.map((each, at) => point(each, at, x(at), y(each.flops))),
    ),
  );
}

function point(of: Measurement, index: number, x: number, y: number): SVGElement {
  const go = () => send({ type: 'restore', index });
  const says = `${rateWords(of.flops)}, ${Math.round(of.share * 100)}% of peak, ${of.sizes}, ${new Date(of.time).toLocaleTimeString()}`;
  const isLast = index === state.history.length - 1;
  return s(
    'circle',
    {
      cx: x,
      cy: y,
      r: isLast ? 5 : 4,
      class: isLast ? 'point' : 'past',
      role: 'button',
      tabindex: 0,
      'data-key': `history:${index}`,
      'aria-label': `return to ${says}`,
      click: go,
      keydown: (event: KeyboardEvent) => (event.key === 'Enter' || event.key === ' ') && go(),
    },
    s('title', {}, `${says}\n\n${of.schedule}`),
  );
}

function axis(x1: number, y1: number, x2: number, y2: number): SVGElement {
  return s('line', { x1, y1, x2, y2, class: 'axis' });
}

function label(x: number, y: number, text: string, anchor: string): SVGElement {
  return s('text', { x, y, 'text-anchor': anchor }, text);
}
