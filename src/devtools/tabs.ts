import { button, node, setAttribute } from './node.ts';

export interface Tab {
  name: string;
  content: HTMLElement;
}

let made = 0;

/** Creates accessible tabs: one tab stop, with arrow keys to switch. */
export const createTabs = (tabs: readonly Tab[], chosen: string, onChoose: (name: string) => void) => {
  made += 1;
  const id = (part: string, index: number) => `placard-${part}-${made}-${index}`;
  const buttons = tabs.map(({ name }, index) =>
    button([name], () => choose(index), {
      role: 'tab',
      id: id('tab', index),
      'aria-controls': id('panel', index),
    }),
  );
  const panels = tabs.map(({ content }, index) =>
    node(
      'div',
      { role: 'tabpanel', id: id('panel', index), 'aria-labelledby': id('tab', index), tabindex: '0' },
      [content],
    ),
  );
  const draw = (index: number): void => {
    buttons.forEach((button, each) => {
      setAttribute(button, 'aria-selected', String(each === index));
      button.tabIndex = each === index ? 0 : -1;
      panels[each]!.hidden = each !== index;
    });
  };
  const choose = (index: number): void => {
    draw(index);
    onChoose(tabs[index]!.name);
  };
  const list = node('div', { role: 'tablist', 'aria-label': 'Placard devtools', class: 'tabs' }, buttons, {
    keydown(event) {
      const { target } = event;
      const at = target instanceof HTMLButtonElement ? buttons.indexOf(target) : -1;
      const last = buttons.length - 1;
      const next: Record<string, number> = {
        ArrowRight: at === last ? 0 : at + 1,
        ArrowLeft: at === 0 ? last : at - 1,
        Home: 0,
        End: last,
      };
      const index = next[event.key];
      if (index === undefined) return;
      event.preventDefault();
      choose(index);
      buttons[index]?.focus();
    },
  });
  draw(
    Math.max(
      0,
      tabs.findIndex(({ name }) => name === chosen),
    ),
  );
  return [list, node('div', { class: 'panels' }, panels)];
};
