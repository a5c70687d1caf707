import { expect } from 'vitest';
import { type EnginePage, until } from '../../helpers/engines.ts';
import type { Scenario } from './scenario.ts';
import { shop } from './shop.ts';

const POLICY = (endpoint: string): string =>
  `default-src 'none'; script-src 'self'; connect-src ${endpoint}; style-src 'none'; require-trusted-types-for 'script'`;

/** The devtools on a page whose policy blocks styles; `panel` is their shadow root. */
const SCRIPT = `
  globalThis.violations = [];
  document.addEventListener('securitypolicyviolation', ({ violatedDirective }) => violations.push(violatedDirective));
  const slot = document.createElement('div');
  slot.id = 'slot';
  document.body.append(slot);
  placard.mount('hero', slot, draw);
  const { openDevtools } = await import('/placard/devtools.js');
  openDevtools(placard);
  globalThis.panel = () => document.querySelector('placard-devtools')?.shadowRoot;
`;
const chipSays = (title: string) =>
  `return globalThis.panel?.()?.querySelector('.chip')?.textContent === '${title}'`;
const press = (page: EnginePage, selector: string) =>
  page.run(`panel().querySelector('${selector}').click()`);

export const devtools: Scenario[] = [
  {
    name: 'the devtools keep their styles on the strictest page, follow a banner, and accept events in the sandbox',
    async run({ fake, api, pages, open }) {
      const page = shop(api.origin, { html: '', script: SCRIPT });
      // The policy would block the stylesheet and the script in the head of the test page.
      pages.set('/inspected', {
        script: page.script!,
        headers: { 'content-security-policy': POLICY(api.origin) },
      });
      const inspected = await open('/inspected');
      await until(inspected, chipSays('Seen'));
      const { position, radius } = await inspected.run<{ position: string; radius: string }>(`
        const { position, borderRadius } = getComputedStyle(panel().querySelector('.window'));
        return { position, radius: borderRadius };`);
      expect({ position, radius }).toEqual({ position: 'fixed', radius: '12px' });
      await until(inspected, 'return (await placard.flush()).pending === 0');
      const before = fake.events.length;
      await press(inspected, '[role="switch"]');
      await inspected.run(`await placard.track(placard.banner('hero'), 'click')`);
      await inspected.run(`await placard.track(placard.banner('hero'), 'dismiss')`);
      await until(inspected, chipSays('Dismissed'));
      await press(inspected, '[role="switch"]');
      await until(inspected, `return document.querySelector('#slot p')?.textContent === 'Sale'`);
      await inspected.run('await placard.flush()');
      expect(fake.events).toHaveLength(before);
      expect(await inspected.run('return violations')).toEqual([]);
    },
  },
];
