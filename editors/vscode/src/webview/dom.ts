// Making elements.

type Child = Node | string | null | undefined | false;
type Props = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

const SVG = 'http://www.w3.org/2000/svg';

/** An HTML element. Functions listen to events; `true` is an attribute without a value, `false` none. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), props, children);
}

/** An SVG element. */
export function s(tag: string, props: Props = {}, ...children: Child[]): SVGElement {
  return filled(document.createElementNS(SVG, tag) as SVGElement, props, children);
}

function filled<E extends Element>(element: E, props: Props, children: Child[]): E {
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') {
      element.addEventListener(name, value as unknown as EventListener);
    } else if (value === true) {
      element.setAttribute(name, '');
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children.filter((each): each is Node | string => Boolean(each)));
  return element;
}

/** A sentence in which names stand between backticks. */
export function words(text: string): HTMLElement {
  return h('span', {}, ...text.split('`').map((part, at) => (at % 2 ? h('code', {}, part) : part)));
}
