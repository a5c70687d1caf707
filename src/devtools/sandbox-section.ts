import type { Inspector } from '../client/index.ts';
import { clockTime } from './duration.ts';
import { button, node, setAttribute } from './node.ts';
import type { PanelState } from './panel-state.ts';

/** The switch that takes events and sends none, and what it took. */
export const createSandboxSection = (inspector: Inspector, changed: () => void) => {
  const toggle = (): void => {
    inspector.sandbox(!inspector.read().sandbox.isOn);
    changed();
  };
  const label = [node('b', {}, ['Sandbox']), node('span', {}, ['Take this page’s events, and send none'])];
  const control = button(label, toggle, { role: 'switch', class: 'switch', 'aria-checked': 'false' });
  const list = node('ol', { class: 'lines' });
  let drawn = '';
  return {
    element: node('div', {}, [control, list]),
    update({ inspection: { sandbox } }: PanelState): void {
      setAttribute(control, 'aria-checked', String(sandbox.isOn));
      const state = JSON.stringify(sandbox.events);
      if (state === drawn) return;
      drawn = state;
      const lines = sandbox.events.map(({ type, placementId, time }) =>
        node('li', { 'data-taken': type }, [
          node('time', {}, [clockTime(time)]),
          node('span', {}, [`${type} in ${placementId}, not sent`]),
        ]),
      );
      list.replaceChildren(...lines.reverse());
    },
  };
};
