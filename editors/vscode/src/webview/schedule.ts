// The schedule as steps, with a scrubber over them and a slider for each factor.

import type { Step, Tweaks } from '../studio/data';
import { h, words } from './dom';
import { choose, send, state } from './state';

export function schedule(): HTMLElement {
  const { steps, step } = state.studio!;
  if (steps.length === 0) {
    return none();
  }
  const blame = new Map(state.studio!.limits.filter((each) => each.line !== null).map((each) => [each.line!, each.words]));
  return h(
    'section',
    { class: 'schedule', 'aria-label': 'schedule' },
    h('h2', {}, 'Schedule', h('span', { class: 'quiet' }, step === steps.length ? ` ${steps.length} lines` : ` after ${step} of ${steps.length}`)),
    h('input', {
      type: 'range',
      class: 'scrubber',
      min: 0,
      max: steps.length,
      value: step,
      'data-key': 'scrubber',
      'aria-label': 'lines of the schedule that are applied',
      'aria-valuetext': step === 0 ? 'none' : (steps[step - 1]?.text ?? ''),
      input: (event: Event) => scrub(Number((event.target as HTMLInputElement).value)),
    }),
    h('ol', {}, ...steps.map((each, number) => row(each, number, blame.get(number)))),
  );
}

function scrub(to: number): void {
  const { steps } = state.studio!;
  send({ type: 'step', step: to === steps.length ? null : to });
}

function row(step: Step, number: number, blamed: string | undefined): HTMLElement {
  const at = state.studio!.step;
  const classes = ['step', number >= at && 'later', number === at - 1 && 'now', step.refused && 'refused', blamed && 'blamed'];
  const moves = state.tweaks?.lines[number]?.moves ?? [];
  return h(
    'li',
    { class: classes.filter(Boolean).join(' ') },
    h(
      'div',
      { class: 'row' },
      h(
        'button',
        {
          class: 'text',
          'data-key': `step:${number}`,
          'aria-current': number === at - 1 ? 'step' : null,
          title: step.refused ?? blamed ?? (step.changes ? 'show the nest after this line' : 'this line does not change the loops'),
          click: () => {
            scrub(number + 1);
            if (step.place) {
              send({ type: 'reveal', place: step.place });
            }
          },
        },
        step.text,
      ),
      h(
        'span',
        { class: 'tools' },
        ...moves.map(
          (each, move) =>
            LINE_MOVES[each.id] &&
            h(
              'button',
              {
                class: 'tool',
                'data-key': `line:${number}:${each.id}`,
                disabled: !each.edit || state.isStale,
                title: each.edit ? each.title : `${each.title}: ${each.why ?? ''}`,
                'aria-label': each.title,
                click: () => choose({ of: 'lines', index: number, move }),
              },
              LINE_MOVES[each.id]!,
            ),
        ),
      ),
    ),
    step.refused && h('p', { class: 'why' }, words(step.refused)),
    ...(state.tweaks?.factors ?? []).map((factor, index) => factor.line === number && slider(factor, index)),
  );
}

const LINE_MOVES: Record<string, string> = { up: '↑', down: '↓', remove: '✕' };

/** A slider over the numbers that are legal in place of one. */
function slider(factor: Tweaks['factors'][number], index: number): HTMLElement {
  const values = [...factor.legal.map((each) => each.value), factor.value].sort((a, b) => a - b);
  const shown = h('output', {}, String(factor.value));
  const divides = new Set(factor.legal.filter((each) => each.divides).map((each) => each.value));
  return h(
    'label',
    { class: 'factor' },
    h('span', { class: 'quiet' }, 'factor'),
    h('input', {
      type: 'range',
      min: 0,
      max: values.length - 1,
      step: 1,
      value: values.indexOf(factor.value),
      disabled: state.isStale || values.length < 2,
      'data-key': `factor:${index}`,
      'aria-label': `factor ${factor.value} of line ${factor.line + 1}`,
      'aria-valuetext': String(factor.value),
      title: `legal: ${values.map((each) => (divides.has(each) ? `${each} (no remainder)` : each)).join(', ')}`,
      input: (event: Event) => {
        shown.textContent = String(values[Number((event.target as HTMLInputElement).value)]);
      },
      change: (event: Event) => {
        const value = values[Number((event.target as HTMLInputElement).value)];
        const move = factor.legal.findIndex((each) => each.value === value);
        if (move >= 0) {
          choose({ of: 'factors', index, move });
        }
      },
    }),
    shown,
  );
}

/** An op without a schedule: what would write one. */
function none(): HTMLElement {
  const write = state.tweaks?.write ?? [];
  return h(
    'section',
    { class: 'schedule', 'aria-label': 'schedule' },
    h('h2', {}, 'Schedule'),
    h('p', { class: 'quiet' }, 'Nobody says how this op is computed: the compiler orders the loops itself.'),
    ...write.map((each, move) =>
      h(
        'button',
        { class: 'action', disabled: !each.edit || state.isStale, title: each.why ?? each.title, click: () => choose({ of: 'write', move }) },
        words(each.title),
      ),
    ),
  );
}
