import type { Inspector } from '../client/index.ts';
import { clockTime } from './duration.ts';
import { node } from './node.ts';
import type { PanelState } from './panel-state.ts';
import { createSwitch } from './switch.ts';

/** The switch that takes events and sends none, and what it took. */
export const createSandboxSection = (inspector: Inspector, changed: () => void) => {
  const toggle = createSwitch('Sandbox', 'Take this page’s events, and send none', (isOn) => {
    inspector.sandbox(isOn);
    changed();
  });
  const list = node('ol', { class: 'lines' });
  let drawn = '';
  return {
    element: node('section', { class: 'sandbox' }, [toggle.element, list]),
    update({ inspection: { sandbox } }: PanelState): void {
      toggle.set(sandbox.isOn);
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
