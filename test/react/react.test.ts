import { within } from '@testing-library/dom';
import { act, createElement, type ReactNode, StrictMode, useState } from 'react';
import { createRoot, hydrateRoot, type Root } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { definePlacement, type PlacementHook, type Slot } from '../../src/client/index.ts';
import { PlacardProvider, Placement, useBanner, usePlacard } from '../../src/react/index.ts';
import { hero } from '../../src/templates/index.ts';
import { buildBanner } from '../helpers/a-banner.ts';
import { type FakePlacard, fakePlacard } from '../helpers/fake-placard.ts';
import { foreignPromise } from '../helpers/foreign-promise.ts';
import { drawnIn } from '../helpers/template-slot.ts';

let fake: FakePlacard;
let container: HTMLElement;
let root: Root;
beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  fake = fakePlacard();
  container = document.createElement('div');
  document.body.append(container);
  root = createRoot(container);
});
afterEach(async () => {
  await act(async () => root.unmount());
  container.remove();
  vi.unstubAllGlobals();
});

const render = (node: ReactNode) =>
  act(async () => root.render(createElement(PlacardProvider, { placard: fake.placard }, node)));
const place = () => container.querySelector<HTMLElement>('[data-testid="place"]')!;

describe('Placement with a hook', () => {
  test('renders the banner in its element, with the given attributes', async () => {
    fake.set('home_hero', 'Summer sale');
    const props = { placementId: 'home_hero', hook: hero, className: 'box', 'data-testid': 'place' };
    await render(createElement(Placement, props));
    expect(place().className).toBe('box');
    expect(within(drawnIn(place())).getByText('Summer sale')).toBeTruthy();
  });

  test('unmounts the placement when the component unmounts', async () => {
    await render(createElement(Placement, { placementId: 'home_hero', hook: hero }));
    await render(null);
    expect(fake.calls).toEqual(['mount home_hero', 'unmount home_hero']);
    expect(fake.mounts()).toEqual([]);
  });

  test('case 61: mounts once in StrictMode', async () => {
    await render(
      createElement(StrictMode, {}, createElement(Placement, { placementId: 'home_hero', hook: hero })),
    );
    expect(fake.mounts()).toHaveLength(1);
  });

  test('does not mount again for an inline function, and renders with the latest one', async () => {
    const Page = ({ word }: { word: string }) =>
      createElement(Placement, {
        placementId: 'home_hero',
        'data-testid': 'place',
        hook: (banner, { element }) => {
          element.replaceChildren(`${word} ${banner.properties['headline']?.value}`);
        },
      } as Parameters<typeof Placement>[0]);
    await render(createElement(Page, { word: 'First' }));
    await render(createElement(Page, { word: 'Second' }));
    await act(async () => fake.set('home_hero', 'sale'));
    expect(place().textContent).toBe('Second sale');
    expect(fake.calls).toEqual(['mount home_hero']);
  });

  test.each([
    ['at once', (value: unknown) => ({ value }), 'Second'],
    ['later', async (value: unknown) => ({ value }), 'First'],
    [
      'later, by another library’s promise',
      (value: unknown) => foreignPromise(Promise.resolve({ value })),
      'First',
    ],
  ])(
    'renders a banner whose inline placement was redefined after its check %s',
    async (_, validate, drawnBy) => {
      let mounted: PlacementHook | undefined;
      fake.placard.mount = (_id, _element, hook) => {
        mounted = hook;
        return () => undefined;
      };
      const Page = ({ word }: { word: string }) =>
        createElement(Placement, {
          placementId: 'home_hero',
          hook: definePlacement('home_hero', {
            properties: { '~standard': { version: 1, vendor: 'test', validate } },
            render: (properties, { element }) =>
              element.replaceChildren(`${word} ${(properties as { headline: string }).headline}`),
          }),
        });
      await render(createElement(Page, { word: 'First' }));
      const banner = buildBanner();
      expect(await mounted?.validate?.(banner)).toEqual([]);
      await render(createElement(Page, { word: 'Second' }));
      const element = document.createElement('div');
      mounted?.(banner, { element } as unknown as Slot);
      expect(element.textContent).toBe(`${drawnBy} Summer sale`);
    },
  );

  test('mounts again if the placement changes', async () => {
    await render(createElement(Placement, { placementId: 'home_hero', hook: hero }));
    await render(createElement(Placement, { placementId: 'sidebar_promo', hook: hero }));
    expect(fake.mounts().map(({ placementId }) => placementId)).toEqual(['sidebar_promo']);
  });

  test('passes only the hook’s handling of empty placements to the client', async () => {
    const hooks: object[] = [];
    const mount = fake.placard.mount;
    fake.placard.mount = (placementId, element, hook) => {
      hooks.push({
        validate: typeof hook.validate,
        renderEmpty: typeof hook.renderEmpty,
        renderInvalid: typeof hook.renderInvalid,
      });
      return mount(placementId, element, hook);
    };
    const full = Object.assign(() => undefined, { validate: () => [], renderEmpty: () => undefined });
    await render(createElement(Placement, { placementId: 'home_hero', hook: full }));
    expect(hooks).toEqual([{ validate: 'function', renderEmpty: 'function', renderInvalid: 'undefined' }]);
  });
});

describe('Placement that renders in React', () => {
  test('receives the slot and removes its nodes', async () => {
    fake.set('home_hero', 'Summer sale');
    await render(
      createElement(Placement, {
        placementId: 'home_hero',
        render: (banner, slot) =>
          createElement(
            'button',
            { type: 'button', onClick: () => void slot.click() },
            String(banner.properties['headline']?.value),
          ),
      }),
    );
    const button = within(container).getByRole('button', { name: 'Summer sale' });
    await act(async () => button.click());
    expect(fake.calls).toContain('click bnr-Summer sale');
    await act(async () => fake.set('home_hero', null));
    expect(within(container).queryByRole('button')).toBeNull();
  });
});

describe('useBanner', () => {
  const Headline = () => {
    const banner = useBanner('home_hero');
    const text = banner === undefined ? 'not known' : banner === null ? 'nobody' : 'somebody';
    return createElement('p', {}, text);
  };

  test('returns the banner that the client would show', async () => {
    await render(createElement(Headline));
    expect(container.textContent).toBe('not known');
    await act(async () => fake.set('home_hero', 'Summer sale'));
    expect(container.textContent).toBe('somebody');
    await act(async () => fake.set('home_hero', null));
    expect(container.textContent).toBe('nobody');
  });

  test('updates when a banner expires, under any clock', async () => {
    vi.useFakeTimers();
    try {
      const inMs = (ms: number) => ({ expiresAt: Date.now() + ms });
      fake.set('home_hero', 'Summer sale', inMs(5_000));
      await render(createElement(Headline));
      // The client uses the service's clock, which is behind.
      await act(() => vi.advanceTimersByTimeAsync(6_500));
      expect(container.textContent).toBe('somebody');
      fake.forget('home_hero');
      await act(() => vi.advanceTimersByTimeAsync(1_000));
      expect(container.textContent).toBe('nobody');
      expect(vi.getTimerCount()).toBe(0);
      // With a service clock that is ahead, the update is at most one minute late.
      await act(async () => fake.set('home_hero', 'Winter sale', inMs(86_400_000)));
      fake.forget('home_hero');
      await act(() => vi.advanceTimersByTimeAsync(60_000));
      expect(container.textContent).toBe('nobody');
      await act(async () => fake.set('home_hero', 'Winter sale', inMs(86_400_000)));
      await render(null);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('renders once per relevant change', async () => {
    let renders = 0;
    const Counted = () => {
      renders += 1;
      return createElement(Headline);
    };
    await render(createElement(Counted));
    const before = renders;
    await act(async () => fake.notify({ type: 'consent', state: 'enabled' }));
    expect(renders).toBe(before);
  });

  test('stops listening after unmount', async () => {
    await render(createElement(Headline));
    expect(fake.listeners.size).toBe(1);
    await render(null);
    expect(fake.listeners.size).toBe(0);
  });
});

describe('on a server', () => {
  const Page = () => {
    const banner = useBanner('home_hero');
    const [word] = useState(usePlacard() ? 'a client' : 'no client');
    return createElement(
      'main',
      {},
      `${word}, ${banner === undefined ? 'nothing known' : 'something known'}`,
      createElement(Placement, { placementId: 'home_hero', hook: hero, className: 'box' }),
    );
  };

  test('renders a page without a client and hydrates it unchanged', async () => {
    const html = renderToString(createElement(PlacardProvider, { placard: null }, createElement(Page)));
    expect(html).toBe('<main>no client, nothing known<div class="box"></div></main>');
    const served = document.createElement('div');
    served.append(...new DOMParser().parseFromString(html, 'text/html').body.childNodes);
    const errors: unknown[] = [];
    const hydrated = await act(async () =>
      hydrateRoot(served, createElement(PlacardProvider, { placard: null }, createElement(Page)), {
        onRecoverableError: (error) => errors.push(error),
      }),
    );
    expect(errors).toEqual([]);
    await act(async () => hydrated.unmount());
  });

  test('renders empty placements outside a provider without an error', async () => {
    await act(async () => root.render(createElement(Page)));
    expect(container.textContent).toBe('no client, nothing known');
  });
});
