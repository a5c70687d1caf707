import type { Banner, Slot } from '../../src/client/index.ts';
import { INERT_METHODS } from '../../src/protocol/index.ts';

type Value = string | boolean | Banner['properties'][string];

/** A banner from plain values: text, flags, `image` as an image, anything else as `{ type, value }`. */
export const getBanner = (values: Record<string, Value>): Banner => ({
  id: 'bnr_1',
  placementId: 'home_hero',
  isControl: false,
  isTestSend: false,
  expiresAt: null,
  properties: Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (typeof value === 'object') return [name, value];
      const type = typeof value === 'boolean' ? 'boolean' : name === 'image' ? 'image' : 'string';
      return [name, { type, value }];
    }),
  ),
});

/** A slot in the page that writes down what the hook asked of it; `settleClick` ends a click that was held. */
export const recordingSlot = ({ holdClick = false, now = Date.now } = {}) => {
  const element = document.createElement('div');
  document.body.append(element);
  const calls: string[] = [];
  const controller = new AbortController();
  let settleClick: (() => void) | undefined;
  const slot: Slot = {
    ...INERT_METHODS,
    element,
    placementId: 'home_hero',
    signal: controller.signal,
    click: (buttonId) => {
      calls.push(buttonId === undefined ? 'click' : `click ${buttonId}`);
      return holdClick ? new Promise<void>((resolve) => (settleClick = resolve)) : Promise.resolve();
    },
    dismiss: async () => {
      calls.push('dismiss');
    },
    safeUrl: (url, use) => {
      calls.push(`safeUrl ${use}`);
      return typeof url === 'string' && !/^\s*(javascript|data|vbscript):/i.test(url) ? url : null;
    },
    now,
    report: (kind, message) => void calls.push(`report ${kind}: ${message}`),
  };
  return { slot, calls, controller, settleClick: () => settleClick?.() };
};

/** Returns the rendered content of a template, for `within`, because queries do not search shadow roots. */
export const drawnIn = (element: HTMLElement): HTMLElement => {
  const panel = element.querySelector('placard-frame')?.shadowRoot?.firstElementChild;
  if (!panel) throw new Error('Nothing was drawn');
  return panel as HTMLElement;
};
