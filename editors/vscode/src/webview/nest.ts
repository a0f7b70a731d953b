// The loop nest as nested blocks: extents, kinds, footprints, buttons, and loops that are dragged.

import type { Line, Move, Tweaks } from '../studio/data';
import { along, type Block, blocks, bytesWords, level, levelName, matched } from '../studio/reading';
import { h, words } from './dom';
import { choose, send, setOpen, state } from './state';

const KINDS = { serial: 'for', parallel: 'parallel', vector: 'vector', unrolled: 'unrolled' } as const;

export function nest(render: () => void): HTMLElement {
  const studio = state.studio!;
  const isWhole = studio.step === studio.steps.length;
  const loops = isWhole ? matched(studio.lines, state.tweaks?.loops ?? []) : studio.lines.map(() => -1);
  const blame = new Set(studio.limits.map((each) => each.line).filter((line) => line !== null));
  const view: View = { loops, blame, render };
  return h(
    'div',
    { class: 'nest', role: 'tree', 'aria-label': 'loop nest' },
    ...blocks(studio.lines).map((each) => block(each, view)),
  );
}

interface View {
  readonly loops: readonly number[];
  readonly blame: ReadonlySet<number>;
  readonly render: () => void;
}

function block(of: Block, view: View): HTMLElement {
  const { line } = of;
  if (line.kind === 'loop' || line.kind === 'call') {
    return loop(of, view);
  }
  return h(
    'div',
    { class: `line ${line.kind}`, title: line.kind === 'buffer' ? 'storage, for one iteration of the loop around' : null },
    h('button', { class: 'text', tabindex: -1, click: () => reveal(line) }, line.text),
    ...of.body.map((each) => block(each, view)),
  );
}

function loop(of: Block, view: View): HTMLElement {
  const { line, index } = of;
  const place = view.loops[index] ?? -1;
  const isOpen = line.name !== null && line.name !== undefined && state.open === line.name;
  const moves = place < 0 ? [] : (state.tweaks?.loops[place]?.moves ?? []);
  const isBlamed = line.line !== null && view.blame.has(line.line);
  const head = h(
    'div',
    {
      class: `head${isBlamed ? ' blamed' : ''}`,
      role: 'treeitem',
      tabindex: line.name ? 0 : -1,
      'data-key': `loop:${line.name ?? ''}`,
      'data-loop': place,
      'aria-expanded': isOpen,
      'aria-label': `${line.text}, ${line.extent ?? 'unknown'} iterations${footprintWords(line)}`,
      keydown: (event: KeyboardEvent) => keyed(event, line, place, view),
    },
    canDrag(place) &&
      h('span', { class: 'grip', title: 'drag to another place in the nest', 'data-loop': place, pointerdown: (event: PointerEvent) => drag(event, place) }, '⠿'),
    h('span', { class: 'kind' }, KINDS[line.runs ?? 'serial']),
    h('button', { class: 'text', tabindex: -1, title: 'show the line that made it', click: () => reveal(line) }, named(line)),
    h('span', { class: 'range' }, range(line)),
    line.extent !== null && line.extent !== undefined && h('span', { class: 'extent', title: 'iterations, at most' }, `×${line.extent}`),
    footprint(line),
    line.name &&
      h(
        'button',
        {
          class: 'more',
          tabindex: -1,
          title: 'what can be done with this loop',
          'aria-label': `changes of ${line.name}`,
          click: () => {
            setOpen(isOpen ? null : line.name!);
            view.render();
          },
        },
        isOpen ? '▾' : '⋯',
      ),
  );
  return h(
    'div',
    { class: `loop ${line.runs ?? 'serial'}${line.name ? '' : ' initial'}`, role: 'group' },
    head,
    isOpen && actions(moves, place),
    h('div', { class: 'body' }, ...of.body.map((each) => block(each, view))),
  );
}

/** Buttons for what is legal; the rest in a list with its reasons. */
function actions(moves: readonly Move[], index: number): HTMLElement {
  if (moves.length === 0) {
    return h('div', { class: 'actions quiet' }, state.isStale ? 'looking for what can be done …' : 'nothing can be done with this loop');
  }
  const legal = moves.map((each, move) => [each, move] as const).filter(([each]) => each.edit);
  const others = moves.filter((each) => !each.edit);
  return h(
    'div',
    { class: 'actions' },
    ...legal.map(([each, move]) =>
      h(
        'button',
        {
          class: 'action',
          disabled: state.isStale,
          'data-key': `move:${index}:${each.id}`,
          title: each.title.replaceAll('`', ''),
          click: () => choose({ of: 'loops', index, move }),
        },
        words(each.title),
      ),
    ),
    others.length > 0 &&
      h(
        'details',
        { class: 'refused' },
        h('summary', { 'data-key': `why:${index}` }, `${others.length} more cannot be done now`),
        h('ul', {}, ...others.map((each) => h('li', {}, h('b', {}, words(each.title)), ' — ', words(each.why ?? '')))),
      ),
  );
}

// ---- the footprint

function footprint(line: Line): HTMLElement | null {
  const bytes = line.touches?.bytes;
  const { caches } = state.studio!.machine;
  if (!bytes) {
    return null;
  }
  const at = level(bytes, caches);
  const fill = h('span', { class: `fill level${Math.min(at, 3)}` });
  fill.style.width = `${along(bytes, caches) * 100}%`;
  const ticks = caches.map((size, number) => {
    const tick = h('span', { class: 'tick', 'aria-hidden': 'true', title: `L${number + 1}` });
    tick.style.left = `${along(size, caches) * 100}%`;
    return tick;
  });
  const parts = line.touches!.tensors.map((each) => `${each.tensor} ${bytesWords(each.bytes)}${each.written ? ', written' : ''}`);
  const sizes = caches.map((size, number) => `L${number + 1} ${bytesWords(size)}`).join(', ');
  return h(
    'span',
    { class: 'footprint', title: `one iteration touches\n${parts.join('\n')}\n\n${sizes}` },
    h('span', { class: 'bar' }, fill, ...ticks),
    h('span', { class: 'bytes' }, bytesWords(bytes)),
    h('span', { class: `fits level${Math.min(at, 3)}` }, levelName(at, caches)),
  );
}

function footprintWords(line: Line): string {
  const bytes = line.touches?.bytes;
  if (!bytes) {
    return '';
  }
  const { caches } = state.studio!.machine;
  return `, an iteration touches ${bytesWords(bytes)}, which ${levelName(level(bytes, caches), caches)} holds`;
}

function named(line: Line): string {
  return /\bfor (\S+)/.exec(line.text)?.[1] ?? line.text;
}

function range(line: Line): string {
  return /\bin (.+)$/.exec(line.text)?.[1] ?? '';
}

function reveal(line: Line): void {
  const place = (line.line === null ? null : state.studio!.steps[line.line]?.place) ?? line.source;
  if (place) {
    send({ type: 'reveal', place });
  }
}

// ---- moving loops

function targetsOf(place: number): Tweaks['reorders'][number]['targets'] {
  return reorderOf(place)?.targets ?? [];
}

function reorderOf(place: number): Tweaks['reorders'][number] | undefined {
  const name = state.tweaks?.loops[place]?.name;
  return state.tweaks?.reorders.find((each) => each.loop === name);
}

function canDrag(place: number): boolean {
  return place >= 0 && targetsOf(place).some((each) => each.edit);
}

/** Have a loop at another place among the loops, if that is legal. */
function move(place: number, target: number): void {
  const index = state.tweaks?.reorders.indexOf(reorderOf(place)!) ?? -1;
  const chosen = targetsOf(place).findIndex((each) => each.index === target && each.edit);
  if (index >= 0 && chosen >= 0) {
    choose({ of: 'reorders', index, move: chosen });
  }
}

export let isDragging = false;

function drag(event: PointerEvent, place: number): void {
  if (state.isStale) {
    return;
  }
  event.preventDefault();
  isDragging = true;
  const tree = (event.target as HTMLElement).closest('.nest')!;
  const heads = new Map([...tree.querySelectorAll<HTMLElement>('.head[data-loop]')].map((each) => [Number(each.dataset['loop']), each]));
  heads.get(place)?.classList.add('dragged');
  const hint = h('div', { class: 'hint', role: 'status' });
  document.body.append(hint);
  for (const target of targetsOf(place)) {
    heads.get(target.index)?.classList.add(target.edit ? 'legal' : 'illegal');
  }
  let over = -1;
  const moved = (at: PointerEvent) => {
    const head = document.elementFromPoint(at.clientX, at.clientY)?.closest<HTMLElement>('.head[data-loop]');
    over = head ? Number(head.dataset['loop']) : -1;
    heads.forEach((each, number) => each.classList.toggle('over', number === over && over !== place));
    const target = targetsOf(place).find((each) => each.index === over);
    hint.textContent = over < 0 || over === place ? '' : target ? (target.edit ? 'move it here' : (target.why ?? '')) : 'it cannot go there';
    hint.style.left = `${at.clientX + 12}px`;
    hint.style.top = `${at.clientY + 12}px`;
  };
  const ended = (isDropped: boolean) => {
    document.removeEventListener('pointermove', moved);
    document.removeEventListener('pointerup', dropped);
    document.removeEventListener('keydown', escaped, true);
    hint.remove();
    heads.forEach((each) => each.classList.remove('dragged', 'legal', 'illegal', 'over'));
    isDragging = false;
    if (isDropped && over >= 0 && over !== place) {
      move(place, over);
    }
  };
  const dropped = () => ended(true);
  const escaped = (key: KeyboardEvent) => key.key === 'Escape' && ended(false);
  document.addEventListener('pointermove', moved);
  document.addEventListener('pointerup', dropped);
  document.addEventListener('keydown', escaped, true);
}

function keyed(event: KeyboardEvent, line: Line, place: number, view: View): void {
  const heads = [...document.querySelectorAll<HTMLElement>('.head[tabindex="0"]')];
  const here = heads.indexOf(event.currentTarget as HTMLElement);
  const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (event.target !== event.currentTarget) {
    return;
  }
  if (by && event.altKey) {
    move(place, place + by);
  } else if (by) {
    heads[here + by]?.focus();
  } else if (event.key === 'Enter' || event.key === ' ') {
    setOpen(state.open === line.name ? null : (line.name ?? null));
    view.render();
  } else if (event.key === 'g') {
    reveal(line);
  } else {
    return;
  }
  event.preventDefault();
}
