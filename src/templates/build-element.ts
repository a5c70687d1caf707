/** Creates an element with attributes and children, without parsing markup. Omits `null` children and attributes. */
export const buildElement = <Tag extends keyof HTMLElementTagNameMap>(
  document: Document,
  tag: Tag,
  attributes: Record<string, string | null> = {},
  children: (Node | string | null)[] = [],
): HTMLElementTagNameMap[Tag] => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
};
