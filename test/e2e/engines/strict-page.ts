import { expect } from 'vitest';
import { buildBanner } from '../../../src/testing/index.ts';
import { type EnginePage, until } from '../../helpers/engines.ts';
import { HOSTILE } from '../../helpers/hostile-values.ts';
import type { TestPage } from '../../helpers/page-server.ts';
import type { Scenario } from './scenario.ts';

const TEMPLATES = ['strip', 'card', 'hero'];
const SALE = {
  headline: 'Summer sale',
  body: 'Until Sunday',
  button_text: 'Look',
  link: 'https://shop.example/sale',
  dismissible: true,
};

/** The templates on a page that blocks inline styles, `eval`, and every origin except the service's. */
const strict = (endpoint: string, copies = 1): TestPage => ({
  headers: {
    'content-security-policy': `default-src 'none'; script-src 'self'; connect-src ${endpoint}; img-src https:; style-src 'none'; worker-src 'self'; require-trusted-types-for 'script'`,
  },
  script: `
    import { createPlacard } from '/placard/index.js';
    import * as templates from '/placard/templates.js';
    globalThis.violations = [];
    globalThis.errors = [];
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      violations.push(violatedDirective + ' ' + blockedURI));
    for (const type of ['error', 'unhandledrejection'])
      addEventListener(type, (event) => errors.push(String(event.message ?? event.reason)));
    for (const name of ['alert', 'msgbox']) globalThis[name] = () => errors.push('a script ran');
    globalThis.notices = [];
    globalThis.placard = createPlacard({
      endpoint: ${JSON.stringify(endpoint)}, apiKey: 'client-key', appId: 'strict', appVersion: '1', userId: 'kim',
    });
    placard.subscribe((notice) => notices.push(JSON.parse(JSON.stringify(notice))));
    for (const name of ${JSON.stringify(TEMPLATES)}) for (let copy = 0; copy < ${copies}; copy += 1) {
      const element = document.createElement('div');
      element.id = name + copy;
      document.body.append(element);
      placard.mount(element.id, element, templates[name]);
    }
  `,
});

/** Checks that the page is strict: if the engine supports Trusted Types, assigning a string as markup throws. */
const INJECT = `
  try {
    document.body.insertAdjacentHTML('beforeend', '<b>text</b>');
    return 'allowed';
  } catch (error) {
    return error.name;
  }`;

const expectStrict = async (page: EnginePage): Promise<void> => {
  const hasTrustedTypes = await page.run<boolean>(`return 'trustedTypes' in globalThis`);
  expect(await page.run(INJECT)).toBe(hasTrustedTypes ? 'TypeError' : 'allowed');
};

/** Images of the page's own origin are rejected on a test page, because it is not on https. */
const getViolations = async (page: EnginePage, origin: string): Promise<string[]> =>
  (await page.run<string[]>('return violations')).filter((each) => !each.startsWith(`img-src ${origin}`));

export const strictPage: Scenario[] = [
  {
    name: 'case 67: renders, clicks and dismisses every template on the strictest page without a violation',
    async run({ fake, api, pages, origin, open, expect }) {
      for (const name of TEMPLATES) fake.setBanner(`${name}0`, buildBanner(`${name}0`, SALE));
      pages.set('/strict', strict(api.origin));
      const page = await open('/strict');
      await until(page, `return globalThis.notices?.filter(({ type }) => type === 'shown').length === 3`);
      for (const name of TEMPLATES) {
        const box = await page.run<{ text: string; height: number; radius: string }>(`
          const place = document.getElementById('${name}0');
          const root = place.firstElementChild.shadowRoot;
          const radius = getComputedStyle(root.querySelector('section')).borderRadius;
          return { text: root.textContent, height: place.getBoundingClientRect().height, radius };`);
        expect(box.text).toContain('Summer sale');
        expect(box.height).toBeGreaterThan(20);
        // The template's own styles apply, although the policy blocks inline styles.
        expect(box.radius).toBe('12px');
      }
      await until(page, `return notices.some(({ type }) => type === 'tracked')`);
      for (const name of TEMPLATES) {
        await page.run(
          `document.getElementById('${name}0').firstElementChild.shadowRoot.querySelector('.dismiss').click()`,
        );
        await until(page, `return !document.querySelector('#${name}0 placard-frame')`);
      }
      // A banner disappears at once; its dismissal is stored a moment later.
      const dismissals = () => fake.events.filter(({ type }) => type === 'dismiss').length;
      await expect.poll(() => page.run('return placard.flush()').then(dismissals)).toBe(3);
      expect(await getViolations(page, origin)).toEqual([]);
      expect(await page.run('return errors')).toEqual([]);
      // Failures of a slow disk or network are not caused by the policy.
      const WEATHER = ['storage', 'sync', 'delivery'];
      const failed = await page.run<{ kind: string }[]>(
        `return notices.filter(({ type }) => type === 'failed')`,
      );
      expect(failed.filter(({ kind }) => !WEATHER.includes(kind))).toEqual([]);
      await expectStrict(page);
    },
  },
  {
    name: 'case 66: runs no script and sends no request for hostile values in a template',
    async run({ fake, api, pages, origin, open }) {
      for (const template of TEMPLATES) {
        for (const [copy, value] of HOSTILE.entries()) {
          const name = `${template}${copy}`;
          const text = { type: 'string', value };
          const headline = typeof value === 'string' && value.trim() ? value : 'Calm';
          const image = { type: 'image', value };
          fake.setBanner(name, {
            ...buildBanner(name, { headline }),
            properties: {
              ...Object.fromEntries(
                ['body', 'button_text', 'link', 'image_alt', 'theme', 'dismissible', 'dismiss_label'].map(
                  (each) => [each, text],
                ),
              ),
              headline: { type: 'string', value: headline },
              image,
            } as never,
          });
        }
      }
      pages.set('/hostile', strict(api.origin, HOSTILE.length));
      const page = await open('/hostile');
      await until(
        page,
        `return globalThis.notices?.filter(({ type }) => type === 'shown').length === ${TEMPLATES.length * HOSTILE.length}`,
        60_000,
      );
      await page.run(
        'await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
      );
      const found = await page.run<{
        scripts: number;
        polluted: string[];
        elsewhere: string[];
        schemes: string[];
      }>(`
        const drawn = [...document.querySelectorAll('placard-frame')].map(({ shadowRoot }) => shadowRoot);
        const all = (selector) => drawn.flatMap((root) => [...root.querySelectorAll(selector)]);
        return {
          scripts: document.scripts.length + all('script, iframe, object, style').length,
          polluted: Object.keys(Object.prototype),
          elsewhere: performance.getEntriesByType('resource').map(({ name }) => name)
            .filter((name) => ![location.origin, ${JSON.stringify(api.origin)}].some((own) => name.startsWith(own + '/'))),
          schemes: [...new Set(all('a, img').map((each) => each.href ?? each.src)
            .map((address) => (URL.canParse(address) ? new URL(address).protocol : 'none')))],
        };`);
      expect(found).toMatchObject({ scripts: 1, polluted: [], elsewhere: [] });
      for (const scheme of found.schemes) expect(['http:', 'https:', 'none']).toContain(scheme);
      expect(await getViolations(page, origin)).toEqual([]);
      expect(await page.run('return errors')).toEqual([]);
      await expectStrict(page);
    },
  },
];
