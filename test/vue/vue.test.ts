import { within } from '@testing-library/dom';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type App, createApp, createSSRApp, defineComponent, h, nextTick, ref, shallowRef } from 'vue';
import { renderToString } from 'vue/server-renderer';
import type { Banner, PlacementHook, Slot } from '../../src/client/index.ts';
import { hero } from '../../src/templates/index.ts';
import { Placement, providePlacard, useBanner, usePlacard, usePlacement } from '../../src/vue/index.ts';
import { type FakePlacard, fakePlacard } from '../helpers/fake-placard.ts';
import { drawnIn } from '../helpers/template-slot.ts';

let fake: FakePlacard;
let container: HTMLElement;
let apps: App[];
beforeEach(() => {
  fake = fakePlacard();
  container = document.createElement('div');
  document.body.append(container);
  apps = [];
});
afterEach(() => {
  for (const app of apps) app.unmount();
  container.remove();
  vi.restoreAllMocks();
});

/** Renders the result of the function, and again when a ref that it reads changes. */
const render = async (page: () => unknown) => {
  const app = createApp(
    defineComponent(() => {
      providePlacard(fake.placard);
      return page as () => never;
    }),
  );
  apps.push(app);
  app.mount(container);
  await nextTick();
  return async () => {
    apps.splice(apps.indexOf(app), 1);
    app.unmount();
    await nextTick();
  };
};
const place = () => container.querySelector<HTMLElement>('.place')!;

describe('Placement with a hook', () => {
  test('renders the banner in its element, with the given attributes', async () => {
    fake.set('home_hero', 'Summer sale');
    await render(() => h(Placement, { placementId: 'home_hero', hook: hero, as: 'aside', class: 'place' }));
    expect(place().tagName).toBe('ASIDE');
    expect(within(drawnIn(place())).getByText('Summer sale')).toBeTruthy();
  });

  test('unmounts the placement when the component unmounts', async () => {
    const unmount = await render(() => h(Placement, { placementId: 'home_hero', hook: hero }));
    await unmount();
    expect(fake.calls).toEqual(['mount home_hero', 'unmount home_hero']);
    expect(fake.mounts()).toEqual([]);
  });

  test('does not mount again for an inline function, and renders with the latest one', async () => {
    const word = ref('First');
    await render(() => {
      const text = word.value;
      const hook: PlacementHook = (banner, { element }) =>
        element.replaceChildren(`${text} ${banner.properties['headline']?.value}`);
      return h(Placement, { placementId: 'home_hero', class: 'place', hook });
    });
    word.value = 'Second';
    await nextTick();
    fake.set('home_hero', 'sale');
    expect(place().textContent).toBe('Second sale');
    expect(fake.calls).toEqual(['mount home_hero']);
  });

  test('mounts again in the same element if the placement changes', async () => {
    const placementId = ref('home_hero');
    await render(() => h(Placement, { placementId: placementId.value, hook: hero, class: 'place' }));
    const before = place();
    placementId.value = 'sidebar_promo';
    await nextTick();
    expect(fake.calls).toEqual(['mount home_hero', 'unmount home_hero', 'mount sidebar_promo']);
    expect(fake.mounts()[0]?.element).toBe(before);
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
    await render(() => h(Placement, { placementId: 'home_hero', hook: full }));
    expect(hooks).toEqual([{ validate: 'function', renderEmpty: 'function', renderInvalid: 'undefined' }]);
  });
});

describe('Placement with a default slot', () => {
  test('renders in Vue, updates with the page, receives the client’s slot, and removes its nodes', async () => {
    fake.set('home_hero', 'Summer sale');
    const greeting = ref('Hello');
    await render(() =>
      h(
        Placement,
        { placementId: 'home_hero' },
        {
          default: ({ banner, slot }: { banner: Banner; slot: Slot }) =>
            h(
              'button',
              { type: 'button', onClick: () => void slot.click() },
              `${greeting.value}: ${banner.properties['headline']?.value}`,
            ),
        },
      ),
    );
    const button = within(container).getByRole('button', { name: 'Hello: Summer sale' });
    button.click();
    expect(fake.calls).toContain('click bnr-Summer sale');
    greeting.value = 'Bye';
    await nextTick();
    expect(button.textContent).toBe('Bye: Summer sale');
    fake.set('home_hero', null);
    await nextTick();
    expect(within(container).queryByRole('button')).toBeNull();
  });
});

describe('usePlacement', () => {
  test('shows the placement in the element of its template ref, with the hook in a ref', async () => {
    const hook = shallowRef<PlacementHook>((_, { element }) => element.replaceChildren('first'));
    const Own = defineComponent(() => {
      const slot = usePlacement('home_hero', hook);
      return () => h('p', { ref: slot, class: 'place' });
    });
    fake.set('home_hero', 'Summer sale');
    await render(() => h(Own));
    expect(place().textContent).toBe('first');
    hook.value = (_, { element }) => element.replaceChildren('second');
    fake.set('home_hero', 'Winter sale');
    expect(place().textContent).toBe('second');
    expect(fake.calls).toEqual(['mount home_hero']);
  });
});

describe('useBanner', () => {
  const placementId = ref('home_hero');
  const Headline = defineComponent(() => {
    const banner = useBanner(placementId);
    return () =>
      h('p', banner.value === undefined ? 'not known' : banner.value === null ? 'nobody' : 'somebody');
  });
  beforeEach(() => {
    placementId.value = 'home_hero';
  });

  test('returns the banner that the client would show, and follows a change of the placement', async () => {
    await render(() => h(Headline));
    expect(container.textContent).toBe('not known');
    fake.set('home_hero', 'Summer sale');
    await nextTick();
    expect(container.textContent).toBe('somebody');
    fake.set('sidebar_promo', null);
    placementId.value = 'sidebar_promo';
    await nextTick();
    await nextTick();
    expect(container.textContent).toBe('nobody');
  });

  test('updates when a banner expires', async () => {
    vi.useFakeTimers();
    try {
      fake.set('home_hero', 'Summer sale', { expiresAt: Date.now() + 5_000 });
      const unmount = await render(() => h(Headline));
      await nextTick();
      expect(container.textContent).toBe('somebody');
      fake.forget('home_hero');
      await vi.advanceTimersByTimeAsync(5_000);
      expect(container.textContent).toBe('nobody');
      await unmount();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('stops listening after unmount', async () => {
    const unmount = await render(() => h(Headline));
    expect(fake.listeners.size).toBe(1);
    await unmount();
    expect(fake.listeners.size).toBe(0);
  });
});

describe('on a server', () => {
  const Page = defineComponent(() => {
    const placard = usePlacard();
    const banner = useBanner('home_hero');
    return () =>
      h('main', [
        `${placard ? 'a client' : 'no client'}, ${banner.value ? 'a banner' : 'no banner'}`,
        h(Placement, { placementId: 'home_hero', hook: hero, class: 'place' }),
      ]);
  });
  const served = '<main>no client, no banner<div class="place"></div></main>';

  test('renders a page without a client and outside a provider, and hydrates it unchanged', async () => {
    const app = createSSRApp(Page);
    providePlacard(null, app);
    expect(await renderToString(app)).toBe(served);
    expect(await renderToString(createSSRApp(Page))).toBe(served);
  });

  test('hydrates server HTML without a warning and shows the banner', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
    const error = vi.spyOn(console, 'error').mockReturnValue(undefined);
    container.append(
      ...new DOMParser().parseFromString(served.replace('no client', 'a client'), 'text/html').body
        .childNodes,
    );
    const before = place();
    fake.set('home_hero', 'Summer sale');
    const app = createSSRApp(Page);
    apps.push(app);
    providePlacard(fake.placard, app);
    app.mount(container);
    await nextTick();
    expect(place()).toBe(before);
    expect(container.textContent).toContain('a banner');
    expect(within(drawnIn(place())).getByText('Summer sale')).toBeTruthy();
    expect([warn.mock.calls, error.mock.calls]).toEqual([[], []]);
  });
});
