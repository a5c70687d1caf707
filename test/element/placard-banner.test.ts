import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { PlacementHook } from '../../src/client/index.ts';
import { PlacardBanner, providePlacard } from '../../src/element/index.ts';
import { type FakePlacard, fakePlacard } from '../helpers/fake-placard.ts';
import { drawnIn } from '../helpers/template-slot.ts';

/** Elements update in a microtask. */
const settled = () => new Promise<void>((resolve) => queueMicrotask(() => queueMicrotask(resolve)));

const draws: PlacementHook = (banner, { element }) => {
  const text = document.createElement('p');
  text.textContent = String(banner.properties['headline']?.value);
  element.append(text);
  return () => text.remove();
};

let fake: FakePlacard;
beforeEach(() => {
  fake = fakePlacard();
  fake.set('home_hero', 'Summer sale');
  fake.set('sidebar_promo', 'Tea set');
});
afterEach(async () => {
  document.body.replaceChildren();
  providePlacard(null);
  await settled();
});

const inPage = (attributes: Record<string, string>) => {
  const element = document.createElement('placard-banner');
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  document.body.append(element);
  return element;
};

describe('<placard-banner>', () => {
  test('waits for the client if the element is connected first', async () => {
    const element = inPage({ placement: 'home_hero', template: 'hero' });
    await settled();
    expect(element.childNodes).toHaveLength(0);
    providePlacard(fake.placard);
    await settled();
    expect(drawnIn(element).textContent).toContain('Summer sale');
  });

  test('mounts at once if the client exists when the element is connected', async () => {
    providePlacard(fake.placard);
    const element = inPage({ placement: 'home_hero', template: 'strip' });
    await settled();
    expect(drawnIn(element).className).toContain('strip');
  });

  test('renders a card if there is no template name', async () => {
    providePlacard(fake.placard);
    const element = inPage({ placement: 'home_hero' });
    await settled();
    expect(drawnIn(element).className).toContain('card');
  });

  test('unmounts and stops listening when it is removed from the page', async () => {
    providePlacard(fake.placard);
    const element = inPage({ placement: 'home_hero' });
    await settled();
    element.remove();
    await settled();
    expect(fake.mounts()).toEqual([]);
    expect(element.childNodes).toHaveLength(0);
    providePlacard(fakePlacard().placard);
    await settled();
    expect(fake.calls).toEqual(['mount home_hero', 'unmount home_hero']);
  });

  test('case 65: keeps its banner when it is moved in the DOM', async () => {
    providePlacard(fake.placard);
    const element = inPage({ placement: 'home_hero' });
    await settled();
    const drawn = drawnIn(element);
    const aside = document.createElement('aside');
    document.body.append(aside);
    aside.append(element);
    await settled();
    expect(drawnIn(element)).toBe(drawn);
    expect(fake.calls).toEqual(['mount home_hero']);
  });

  test('mounts again once if its placement and template change together', async () => {
    providePlacard(fake.placard);
    const element = inPage({ placement: 'home_hero', template: 'hero' });
    await settled();
    element.setAttribute('placement', 'sidebar_promo');
    element.setAttribute('template', 'card');
    await settled();
    expect(drawnIn(element).textContent).toContain('Tea set');
    expect(fake.calls).toEqual(['mount home_hero', 'unmount home_hero', 'mount sidebar_promo']);
  });

  test('does nothing when an attribute is set to its current value', async () => {
    providePlacard(fake.placard);
    const element = inPage({ placement: 'home_hero' });
    await settled();
    element.setAttribute('placement', 'home_hero');
    await settled();
    expect(fake.calls).toEqual(['mount home_hero']);
  });

  test('does not render without a placement', async () => {
    providePlacard(fake.placard);
    inPage({ template: 'hero' });
    await settled();
    expect(fake.calls).toEqual([]);
  });

  test('accepts its own hook and client', async () => {
    const own = fakePlacard();
    own.set('home_hero', 'Of another workspace');
    providePlacard(fake.placard);
    const element = inPage({ placement: 'home_hero', template: 'hero' });
    element.placard = own.placard;
    element.hook = draws;
    await settled();
    expect(element.textContent).toBe('Of another workspace');
    expect(fake.calls).toEqual([]);
    expect(element.hook).toBe(draws);
    element.hook = null;
    await settled();
    expect(drawnIn(element).className).toContain('hero');
  });

  test('keeps properties set before the element was defined', async () => {
    const element = new PlacardBanner();
    // A property that a framework sets before the element is defined.
    Object.defineProperty(element, 'hook', { value: draws, writable: true, configurable: true });
    element.setAttribute('placement', 'home_hero');
    providePlacard(fake.placard);
    document.body.append(element);
    await settled();
    expect(element.textContent).toBe('Summer sale');
    expect(Object.hasOwn(element, 'hook')).toBe(false);
  });

  test("finds the host's templates by name, and lists the available names if there is no match", async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
    providePlacard(fake.placard, { tile: draws });
    const element = inPage({ placement: 'home_hero', template: 'tile' });
    const lost = inPage({ placement: 'home_hero', template: 'constructor' });
    await settled();
    expect(element.textContent).toBe('Summer sale');
    expect(lost.childNodes).toHaveLength(0);
    expect(warn).toHaveBeenCalledWith(
      '<placard-banner>: template: expected strip, card, hero, tile, got "constructor"',
    );
    warn.mockRestore();
  });

  test('switches to another client, and unmounts without a client', async () => {
    const next = fakePlacard();
    next.set('home_hero', 'After signing in');
    providePlacard(fake.placard);
    const element = inPage({ placement: 'home_hero' });
    await settled();
    providePlacard(next.placard);
    await settled();
    expect(drawnIn(element).textContent).toContain('After signing in');
    expect(fake.mounts()).toEqual([]);
    providePlacard(null);
    await settled();
    expect(next.mounts()).toEqual([]);
  });

  test('is displayed as a block by a rule that any rule of the page overrides', async () => {
    inPage({ placement: 'home_hero' });
    inPage({ placement: 'sidebar_promo' });
    const rules = document.adoptedStyleSheets.map((sheet) => sheet.cssRules[0]?.cssText);
    expect(rules.filter((rule) => rule?.includes(':where(placard-banner)'))).toHaveLength(1);
  });

  test('is displayed as a block again after the page replaces its adopted style sheets', async () => {
    inPage({ placement: 'home_hero' });
    document.adoptedStyleSheets = [];
    inPage({ placement: 'sidebar_promo' });
    expect(document.adoptedStyleSheets).toHaveLength(1);
  });
});
