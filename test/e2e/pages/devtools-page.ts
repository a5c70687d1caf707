import { createPlacard, definePlacement, type Notice } from '../../../src/client/index.ts';
import { openDevtools } from '../../../src/devtools/index.ts';
import { card, hero, strip } from '../../../src/templates/index.ts';

/**
 * A page with a placement in every state that the devtools distinguish. Its network is simulated: requests are
 * recorded, `fails` makes the service reject them, and `unseen` makes every slot transparent.
 */
const query = new URLSearchParams(location.search);
const asked: { path: string; body: { events?: { event_type: string }[] } }[] = [];
const notices: Notice[] = [];

const text = (value: string) => ({ type: 'string', value });
const banner = (id: string, changes: object = {}) => ({
  id: `bnr_${id}`,
  placement_id: id,
  expires_at: -1,
  properties: { headline: text(`Words for ${id}`), body: text('Nine things, made on Tuesday.') },
  ...changes,
});
const banners: Record<string, object | null> = {
  home_hero: banner('home_hero'),
  below: banner('below'),
  held_out: banner('held_out', { is_control: true, properties: null }),
  nobody: null,
  misshapen: banner('misshapen', { properties: { headline: { type: 'string', value: '' } } }),
  ending: banner('ending', { expires_at: Math.floor(Date.now() / 1_000) + 3 }),
};

const answer: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const path = new URL(request.url).pathname;
  const body = await request.json();
  asked.push({ path, body });
  if (query.has('fails')) return Response.json({ message: 'Over rate limit' }, { status: 429 });
  if (path.endsWith('/track'))
    return Response.json({ events_processed: body.events.length, message: 'success' }, { status: 202 });
  const known = body.placements.filter((id: string) => id in banners);
  return Response.json({ banners: Object.fromEntries(known.map((id: string) => [id, banners[id]])) });
};

const placard = createPlacard({
  endpoint: location.origin,
  apiKey: 'key',
  appId: 'devtools-page',
  appVersion: '1.0.0',
  userId: query.get('user') ?? 'u-1',
  delivery: { maxDelayMs: 500 },
  platform: { fetch: answer },
});
placard.subscribe((notice) => notices.push(notice));

const strict = definePlacement<{ headline: string }>('misshapen', {
  properties: {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: () => ({ issues: [{ message: 'must not be empty', path: ['headline'] }] }),
    },
  },
  render: () => undefined,
});
const hooks = {
  home_hero: hero,
  held_out: strip,
  nobody: strip,
  misshapen: strict,
  ending: card,
  unknown: strip,
};
const main = document.querySelector('main')!;
const mount = (placementId: string, hook: Parameters<typeof placard.mount>[2]) => {
  const element = document.createElement('div');
  element.id = placementId;
  main.append(element);
  if (query.has('unseen')) element.style.opacity = '0';
  placard.mount(placementId, element, hook);
};
for (const [placementId, hook] of Object.entries(hooks)) mount(placementId, hook);
const gap = document.createElement('div');
gap.className = 'gap';
main.append(gap);
mount('below', card);

const container = query.has('frame')
  ? document.body.appendChild(document.createElement('iframe')).contentDocument!.body
  : undefined;
const close = openDevtools(placard, { activation: query.has('ask') ? 'query' : 'always', container });
Object.assign(window, { placard, asked, notices, close });
