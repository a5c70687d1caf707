import { expect, expectTypeOf, test, vi } from 'vitest';
import * as z from 'zod/mini';
import {
  type Banner,
  definePlacement,
  type Issue,
  type Notice,
  type PlacementHook,
} from '../../../src/client/index.ts';
import { createNotices } from '../../../src/client/notices.ts';
import { createPlacements } from '../../../src/client/placements/placements.ts';
import { createSlotHeights } from '../../../src/client/placements/slot-heights.ts';
import { createClock } from '../../../src/client/platform/clock.ts';
import { buildBanner } from '../../helpers/a-banner.ts';
import { foreignPromise } from '../../helpers/foreign-promise.ts';
import { patience } from '../../helpers/patience.ts';

const mount = (hook: Parameters<ReturnType<typeof createPlacements>['mount']>[2], banner = buildBanner()) => {
  const notices: Notice[] = [];
  const shown: (string | undefined)[] = [];
  const { notify, fail, subscribe } = createNotices();
  subscribe((notice) => notices.push(notice));
  const placements = createPlacements({
    permission: { mayWrite: () => false },
    slotSizes: { reserve: () => undefined },
    cache: {
      current: () => banner,
      removalReason: () => null,
      now: Date.now,
      expiresInMs: () => Number.POSITIVE_INFINITY,
    },
    synced: new Set(),
    track: async () => undefined,
    snooze: async () => undefined,
    hasShouldShow: false,
    after: createClock().after,
    fail,
    notify,
  });
  placements.attach({
    ...createSlotHeights(() => true),
    onChange: (mounted) => shown.push(mounted.state.banner?.id),
  });
  const element = document.createElement('div');
  document.body.append(element);
  const unmount = placements.mount('home_hero', element, hook);
  return { element, notices, shown, unmount, types: () => notices.map(({ type }) => type) };
};

const withProperties = (properties: Banner['properties']) => buildBanner({ properties });

test('calls render with the plain values, typed by the schema', () => {
  const hook = definePlacement('home_hero', {
    properties: z.object({ headline: z.string(), percent: z._default(z.number(), 5) }),
    render({ headline, percent }, slot, banner) {
      expectTypeOf(headline).toEqualTypeOf<string>();
      expectTypeOf(percent).toEqualTypeOf<number>();
      slot.element.textContent = `${headline} ${percent} ${banner.id}`;
    },
  });
  expect(hook.placementId).toBe('home_hero');
  expect(mount(hook).element.textContent).toBe('Summer sale 5 bnr-1');
});

test('rejects a misspelled property at compile time', () => {
  definePlacement('home_hero', {
    properties: z.object({ headline: z.string() }),
    // @ts-expect-error There is no such property in the schema.
    render: ({ headlin }) => void headlin,
  });
});

test('does not render a banner that does not match the schema, and reports its issues', () => {
  const render = vi.fn();
  const hook = definePlacement('home_hero', { properties: z.object({ percent: z.number() }), render });
  const { notices, shown, types } = mount(hook);
  expect(render).not.toHaveBeenCalled();
  expect(shown.every((id) => id === undefined)).toBe(true);
  expect(types()).toEqual(['failed', 'hidden']);
  expect(notices[0]).toMatchObject({ kind: 'invalid-banner', cause: [{ path: ['percent'] }] });
  expect(notices[0]).toMatchObject({
    message: expect.stringContaining('"home_hero": percent: Invalid input'),
  });
  expect(notices[1]).toMatchObject({ reason: 'invalid' });
});

test('calls `invalid` with the issues, and lets it render something else', () => {
  const heard: (readonly Issue[])[] = [];
  const { element } = mount(
    definePlacement('home_hero', {
      properties: z.object({ percent: z.number() }),
      render: () => undefined,
      renderInvalid(problems, place) {
        heard.push(problems);
        place.element.append('House banner');
      },
    }),
  );
  expect(heard).toHaveLength(1);
  expect(element.textContent).toBe('House banner');
});

test('shows the empty state without `invalid`', () => {
  const { element } = mount(
    definePlacement('home_hero', {
      properties: z.object({ percent: z.number() }),
      render: () => undefined,
      renderEmpty: (place) => place.element.append('Nothing today'),
    }),
  );
  expect(element.textContent).toBe('Nothing today');
});

/** A schema that validates asynchronously. */
const slowSchema = (answer: Promise<{ value: { headline: string } } | { issues: readonly Issue[] }>) => ({
  '~standard': { version: 1 as const, vendor: 'test', validate: () => answer },
});

test('waits for an async schema before it renders the banner', async () => {
  const gate = Promise.withResolvers<{ value: { headline: string } }>();
  const { element, types } = mount(
    definePlacement('home_hero', {
      properties: slowSchema(gate.promise),
      render: ({ headline }, slot) => slot.element.append(headline),
    }),
  );
  expect(types()).toEqual([]);
  gate.resolve({ value: { headline: 'Checked' } });
  await vi.waitFor(() => expect(element.textContent).toBe('Checked'), { timeout: patience(30_000) });
  expect(types()).toEqual(['shown']);
});

test.each([
  ['a mismatch', { issues: [{ message: 'no headline' }] }, ['failed', 'hidden']],
  ['a match', { value: { headline: 'Checked' } }, ['shown']],
])('accepts %s as a promise of another library, as with zone.js', async (_, answer, expected) => {
  const render = vi.fn();
  const properties = slowSchema(foreignPromise(Promise.resolve(answer)));
  const { types } = mount(definePlacement('home_hero', { properties, render }));
  await vi.waitFor(() => expect(types()).toEqual(expected), { timeout: patience(30_000) });
  expect(render.mock.calls.map(([drawn]) => drawn)).toEqual('value' in answer ? [answer.value] : []);
});

test('does not render a banner whose schema would still be pending', () => {
  const render = vi.fn();
  const answer = foreignPromise(Promise.resolve({ value: { headline: 'Late' } }));
  const hook = definePlacement('home_hero', { properties: slowSchema(answer), render });
  const { types } = mount(Object.assign(hook, { validate: () => [] }));
  expect(types()).toEqual(['failed', 'hidden']);
  expect(render).not.toHaveBeenCalled();
});

test('a placement redefined after the check renders matching banners and throws for others', () => {
  const render = vi.fn();
  const define = () =>
    definePlacement('home_hero', { properties: z.object({ headline: z.string() }), render });
  const checkedBefore = (banner: Banner) =>
    mount(
      Object.assign((...drawn: Parameters<PlacementHook>) => define()(...drawn), { validate: () => [] }),
      banner,
    );
  expect(checkedBefore(buildBanner()).types()).toEqual(['shown']);
  expect(render).toHaveBeenCalledWith({ headline: 'Summer sale' }, expect.anything(), buildBanner());
  expect(checkedBefore(withProperties({})).types()).toEqual(['failed', 'hidden']);
  expect(render).toHaveBeenCalledTimes(1);
});

test('does not render into a slot that is unmounted before the schema settles', async () => {
  const gate = Promise.withResolvers<{ value: { headline: string } }>();
  const render = vi.fn();
  const { unmount } = mount(definePlacement('home_hero', { properties: slowSchema(gate.promise), render }));
  unmount();
  gate.resolve({ value: { headline: 'Late' } });
  await gate.promise;
  await Promise.resolve();
  await Promise.resolve();
  expect(render).not.toHaveBeenCalled();
});

test.each([
  [
    'throws',
    () => {
      throw new Error('broken schema');
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken schema'))],
])('case 68: a schema that %s affects only its banner', async (_, validate) => {
  const { types } = mount(
    definePlacement('home_hero', {
      properties: { '~standard': { version: 1, vendor: 'test', validate } },
      render: () => undefined,
    }),
  );
  await vi.waitFor(() => expect(types()).toEqual(['failed', 'hidden']), { timeout: patience(30_000) });
});

test('passes a property called __proto__ to the schema as a property, without changing a prototype', () => {
  const properties = JSON.parse('{"__proto__":{"type":"jsonobject","value":{"polluted":true}}}');
  const validate = vi.fn((value: unknown) => ({ value }));
  mount(
    definePlacement('home_hero', {
      properties: { '~standard': { version: 1, vendor: 'test', validate } },
      render: () => undefined,
    }),
    withProperties(properties),
  );
  const seen = validate.mock.calls[0]?.[0];
  expect(Object.getPrototypeOf(seen)).toBe(Object.prototype);
  expect(Object.hasOwn(seen as object, '__proto__')).toBe(true);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
