import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PREVIEW_PATH } from '../../src/protocol/index.ts';
import { createFakeService } from '../../src/testing/index.ts';
import { aWireBanner } from '../helpers/a-banner.ts';
import { aProfile, aSlot, draw, hero, open, PATIENCE, stagePages } from './pages.ts';

stagePages();

const draft = aWireBanner({
  id: 'bnr-draft',
  is_test_send: true,
  properties: { headline: { type: 'string', value: 'The draft' } },
});

beforeEach(() => history.replaceState({ page: 7 }, '', '/cart?x=1#top&placard_preview=the-token'));
afterEach(() => history.replaceState(null, '', '/'));

/** A page of the site, and its preview requests to the service. */
const aSite = (answer: () => Response | Promise<Response>, options: Parameters<typeof open>[0] = {}) => {
  const service = createFakeService({ banners: { home_hero: hero } });
  const sent: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (new URL(request.url).pathname !== PREVIEW_PATH) return service.fetch(request);
    sent.push([request.headers.get('authorization'), await request.json()]);
    return answer();
  };
  return { ...open({ service, platform: { fetch }, ...options }), sent };
};
const found = () => Response.json({ campaign_name: 'Spring', banners: { home_hero: draft } });

const bar = () => document.querySelector('placard-preview')?.shadowRoot ?? null;
const barText = () => bar()?.querySelector('p')?.textContent ?? '';
const barShown = () => vi.waitFor(() => expect(barText()).not.toBe(''), PATIENCE);

test('renders the draft with the page’s own hook, under a bar, if a preview link opens the page', async () => {
  const { placard, sent } = aSite(found);
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await barShown();
  expect(element.textContent).toBe('The draft');
  expect(barText()).toBe('Preview of “Spring” in home_hero. Not stored or counted.');
  expect(sent).toEqual([['Bearer client-key', { token: 'the-token' }]]);
});

test('removes the token from the URL and keeps the rest', async () => {
  aSite(found);
  await barShown();
  expect(location.pathname + location.search + location.hash).toBe('/cart?x=1#top');
  expect(history.state).toEqual({ page: 7 });
});

test('does not store or count impressions, clicks or dismissals of a preview', async () => {
  const openStore = aProfile();
  const { placard, service } = aSite(found, { openStore });
  placard.mount('home_hero', aSlot(), draw);
  await barShown();
  await vi.advanceTimersByTimeAsync(3_000);
  const shown = placard.banner('home_hero')!;
  expect(shown.properties['headline']?.value).toBe('The draft');
  expect(await placard.track(shown, 'click')).toBeNull();
  expect(await placard.track(shown, 'dismiss')).toBeNull();
  await placard.flush();
  expect(service.events.filter(({ type }) => type !== 'impression')).toEqual([]);
  expect(service.events.some(({ bannerId }) => bannerId.includes('draft'))).toBe(false);
  const stored = JSON.stringify(await openStore('placard-banners').entries());
  expect(stored).not.toContain('draft');
});

test('ending the preview removes the draft, even before the first sync response', async () => {
  const service = createFakeService({ banners: { home_hero: hero } });
  service.fail({ type: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
  const fetch: typeof globalThis.fetch = async (input, init) =>
    new URL(new Request(input, init).url).pathname === PREVIEW_PATH ? found() : service.fetch(input, init);
  const { placard } = open({ service, platform: { fetch } });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await barShown();
  expect(element.textContent).toBe('The draft');
  bar()!.querySelector('button')!.click();
  expect(element.textContent).toBe('');
});

test('ending the preview restores the user’s own banner', async () => {
  const { placard, heard } = aSite(found);
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await barShown();
  await heard('synced');
  bar()!.querySelector('button')!.click();
  expect(bar()).toBeNull();
  await vi.waitFor(() => expect(element.textContent).toBe('Summer sale'), PATIENCE);
});

test('dismissing the preview restores the user’s own banner at once, and does not store the dismissal', async () => {
  const { placard, heard } = aSite(found);
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await barShown();
  await heard('synced');
  await placard.track(placard.banner('home_hero')!, 'dismiss');
  expect(element.textContent).toBe('Summer sale');
});

test('keeps the preview when the user becomes known, and does not require a user', async () => {
  const { placard, heard } = aSite(found, { userId: null });
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await barShown();
  expect(element.textContent).toBe('The draft');
  await placard.identify('u-1');
  await heard('synced');
  expect(element.textContent).toBe('The draft');
});

test('shows a message on a page without the placement', async () => {
  aSite(found);
  await barShown();
  expect(barText()).toContain('Not mounted on this page.');
});

test.each([
  [
    'an expired link',
    () => Response.json({ message: 'The preview link has expired' }, { status: 401 }),
    'No preview: The preview link has expired',
  ],
  ['a service without previews', () => new Response('', { status: 404 }), 'No preview: HTTP 404'],
  [
    'a network failure',
    () => {
      throw new TypeError('Failed to fetch');
    },
    /^No preview: No response from http\S+: Failed to fetch$/,
  ],
])('the bar shows %s, and the user’s banner stays', async (_, answer, text) => {
  const { placard, heard } = aSite(answer);
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await barShown();
  expect(barText()).toMatch(text);
  await heard('synced');
  expect(element.textContent).toBe('Summer sale');
});

test('does not send a request without a token in the URL, unless the host passes a token', async () => {
  history.replaceState(null, '', '/');
  const { placard, sent } = aSite(found);
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(sent).toEqual([]);
  await (await placard.inspect())!.preview('from-the-app');
  expect(sent).toEqual([['Bearer client-key', { token: 'from-the-app' }]]);
  expect(element.textContent).toBe('The draft');
  placard.stop();
  expect(bar()).toBeNull();
});

test('does not show a bar if the page stops while its preview loads', async () => {
  const sent = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<Response>();
  const { placard } = aSite(() => {
    sent.resolve();
    return answered.promise;
  });
  await sent.promise;
  placard.stop();
  answered.resolve(found());
  await vi.advanceTimersByTimeAsync(5_000);
  expect(bar()).toBeNull();
});

test('shows the later of two previews, in any order of responses', async () => {
  const first = Promise.withResolvers<Response>();
  const answers = [first.promise, Response.json({ campaign_name: 'Autumn', banners: { home_hero: draft } })];
  const { placard, sent } = aSite(() => answers.shift()!);
  await vi.waitFor(() => expect(sent).toHaveLength(1), PATIENCE);
  await (await placard.inspect())!.preview('another-token');
  first.resolve(found());
  await vi.advanceTimersByTimeAsync(5_000);
  expect(document.querySelectorAll('placard-preview')).toHaveLength(1);
  expect(barText()).toContain('Autumn');
});

test('does not change a URL without a token', async () => {
  const address = '/cart?q=placard_preview%20x&empty';
  history.replaceState(null, '', address);
  const { heard, placard } = aSite(found);
  placard.mount('home_hero', aSlot(), draw);
  await heard('shown');
  expect(location.pathname + location.search).toBe(address);
  expect(bar()).toBeNull();
});

test('shows the page’s own banners and a message if the history is read-only', async () => {
  const refused = vi.spyOn(history, 'replaceState').mockImplementation(() => {
    throw new DOMException('Too many calls', 'SecurityError');
  });
  const { placard, of, heard } = aSite(found);
  const element = aSlot();
  placard.mount('home_hero', element, draw);
  await heard('shown');
  expect(element.textContent).toBe('Summer sale');
  expect(of('failed')).toMatchObject([{ kind: 'internal', cause: { name: 'SecurityError' } }]);
  refused.mockRestore();
});
