// What the page shows, and how it speaks to the panel.

import type { Choice, FromPage, Measurement, Studio, Tweaks } from '../studio/data';

interface Host {
  postMessage(message: FromPage): void;
  getState(): Kept | undefined;
  setState(state: Kept): void;
}

/** What outlives the page: the loop whose changes are open. */
interface Kept {
  readonly open: string | null;
}

declare function acquireVsCodeApi(): Host;
const host = acquireVsCodeApi();

export interface State {
  studio: Studio | undefined;
  /** The last changes that were offered; they are for another text while `isStale`. */
  tweaks: Tweaks | null;
  isStale: boolean;
  history: readonly Measurement[];
  isMeasuring: boolean;
  auto: boolean;
  canRun: boolean;
  open: string | null;
  message: string;
}

export const state: State = {
  studio: undefined,
  tweaks: null,
  isStale: true,
  history: [],
  isMeasuring: false,
  auto: false,
  canRun: true,
  open: host.getState()?.open ?? null,
  message: '',
};

export function send(message: FromPage): void {
  host.postMessage(message);
}

/** Have a change made, if what is offered is for the text as it is. */
export function choose(choice: Choice): void {
  if (state.tweaks && !state.isStale) {
    send({ type: 'choose', version: state.tweaks.version, choice });
  }
}

export function setOpen(name: string | null): void {
  state.open = name;
  host.setState({ open: name });
}
