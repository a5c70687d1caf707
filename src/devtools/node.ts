import { getKeys } from '../protocol/index.ts';

type Handlers = { [Type in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Type]) => void };
type Attributes = Record<string, string | boolean>;

const listen = <Type extends keyof HTMLElementEventMap>(element: HTMLElement, type: Type, on: Handlers) => {
  const handler = on[type];
  if (handler) element.addEventListener(type, handler);
};

/** Creates an element with attributes, children and listeners. An attribute that is `true` has no value; `false` omits it. */
export const node = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  children: (Node | string)[] = [],
  on: Handlers = {},
): HTMLElementTagNameMap[Tag] => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...children);
  for (const type of getKeys(on)) listen(element, type, on);
  return element;
};

export const button = (
  children: (Node | string)[],
  click: () => void,
  attributes: Attributes = {},
): HTMLButtonElement => node('button', { type: 'button', ...attributes }, children, { click });

/** Updates text only if it changed, because the panel refreshes several times a second. */
export const setText = (element: Element, text: string): void => {
  if (element.textContent !== text) element.textContent = text;
};

export const setAttribute = (element: Element, name: string, value: string | boolean): void => {
  const text = value === true ? '' : value;
  if (text === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== text) element.setAttribute(name, text);
};
