type Handlers = { [Type in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Type]) => void };
type Attributes = Record<string, string | number | boolean | null | undefined>;
type Child = Node | string | number | null | false;

/** Creates an element with children, listeners and attributes. `true` is an empty attribute; `false` and `null` are omitted. */
export const node = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  children: Child[] = [],
  on: Handlers = {},
): HTMLElementTagNameMap[Tag] => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) {
    if (child !== null && child !== false) element.append(typeof child === 'number' ? String(child) : child);
  }
  for (const [type, handler] of Object.entries(on)) element.addEventListener(type, handler as EventListener);
  return element;
};
