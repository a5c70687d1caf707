import './panel.css';
import type { Notice, Placard } from '../../src/client/index.ts';
import type { Fault, Faults } from '../shop/faults.ts';
import { node } from '../ui/node.ts';
import { ledger, standing } from './ledger.ts';
import { sentence } from './sentences.ts';

/** Sentences that stay in the log. */
const LOG_LENGTH = 40;
/** Time between two looks at how things stand; some changes, such as those of other tabs, bring no notice here. */
const LOOK_MS = 1_000;

const SWITCHES: readonly { fault: Fault; label: string; help: string }[] = [
  { fault: 'offline', label: 'No network', help: 'Requests fail as they do in a tunnel' },
  { fault: 'down', label: 'Service down', help: 'Every answer is a 503' },
  { fault: 'busy', label: 'Too many requests', help: 'Every answer is a 429: wait eight seconds' },
  { fault: 'bad-event', label: 'One bad event', help: 'The next batch loses a timestamp on its way' },
];

const faultSwitch = (faults: Faults, { fault, label, help }: (typeof SWITCHES)[number]) => {
  const button = node(
    'button',
    { type: 'button', role: 'switch', class: 'switch' },
    [node('span', { class: 'switch-label' }, [label]), node('span', { class: 'switch-help' }, [help])],
    { click: () => faults.set(fault, !faults.isOn(fault)) },
  );
  const draw = () => button.setAttribute('aria-checked', String(faults.isOn(fault)));
  faults.subscribe(draw);
  draw();
  return button;
};

const cacheLine = (placard: Placard, placementId: string) => {
  const banner = placard.banner(placementId);
  const headline = banner?.properties['headline']?.value;
  const says = banner?.isControl ? 'control group, nothing to draw' : headline;
  const text = banner === undefined ? 'not asked yet' : banner === null ? 'nothing for this visitor' : says;
  return node('li', {}, [
    node('code', {}, [placementId]),
    node('span', { class: banner ? 'held' : 'muted', dir: 'auto' }, [
      String(text ?? 'a banner without headline'),
    ]),
  ]);
};

const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

interface PanelOptions {
  placard: Placard;
  faults: Faults;
}

/** Tells in plain words what the SDK is doing, and breaks things on request. */
export const createPanel = ({ placard, faults }: PanelOptions): HTMLElement => {
  const status = node('p', { class: 'status', role: 'status' });
  const pill = node('span', { class: 'pill' });
  const sums = node('div', { class: 'sums' });
  const cache = node('ul', { class: 'cache' });
  const letters = node('div', { class: 'letters' });
  const log = node('ol', { class: 'log' });

  const drawLetters = async () => {
    const list = await placard.deadLetters();
    const button = (label: string, act: () => Promise<void>) =>
      node('button', { type: 'button' }, [label], { click: () => void act().then(look) });
    letters.replaceChildren(
      ...list.map(({ key, event, reason }) =>
        node('div', { class: 'letter' }, [
          node('p', {}, [`Kept aside: a ${event.type} (${reason}).`]),
          button('Send it again', () => placard.retryDeadLetters([key])),
          button('Discard it', () => placard.discardDeadLetters([key])),
        ]),
      ),
    );
  };

  let looking = false;
  let lastSeen = '';
  const look = async () => {
    if (looking) return;
    looking = true;
    const diagnostics = await placard.diagnostics();
    looking = false;
    const seen = JSON.stringify(diagnostics);
    if (seen === lastSeen) return;
    lastSeen = seen;
    const { text, tone } = standing(diagnostics);
    status.textContent = text;
    status.dataset['tone'] = tone;
    pill.textContent = text;
    sums.replaceChildren(ledger(diagnostics));
    await drawLetters();
  };

  const drawCache = () =>
    cache.replaceChildren(
      ...['home_hero', 'sidebar_promo', 'checkout_strip'].map((id) => cacheLine(placard, id)),
    );

  const onNotice = (notice: Notice) => {
    // Whatever changed it says so as well.
    if (notice.type === 'changed') return drawCache();
    const { text, tone } = sentence(notice);
    log.prepend(
      node('li', { 'data-tone': tone, 'data-notice': notice.type }, [
        node('time', {}, [time.format(new Date())]),
        node('span', {}, [text]),
      ]),
    );
    while (log.children.length > LOG_LENGTH) log.lastElementChild?.remove();
    drawCache();
    void look();
  };
  placard.subscribe(onNotice);
  setInterval(() => document.visibilityState === 'visible' && void look(), LOOK_MS);
  drawCache();
  void look();

  const section = (title: string, ...children: Node[]) =>
    node('section', {}, [node('h3', {}, [title]), ...children]);
  const panel = node('aside', { class: 'panel', 'aria-label': 'What the SDK is doing' }, [
    node('div', { class: 'panel-body', id: 'panel-body' }, [
      node('h2', {}, ['Behind the counter']),
      node('p', { class: 'panel-lead' }, ['What the SDK does while you shop.']),
      status,
      sums,
      letters,
      node('div', { class: 'panel-buttons' }, [
        node('button', { type: 'button' }, ['Send now'], { click: () => void placard.flush().then(look) }),
        node('button', { type: 'button' }, ['Ask for banners'], { click: () => void placard.refresh() }),
      ]),
      section('Break something', ...SWITCHES.map((each) => faultSwitch(faults, each))),
      section('In the cache', cache),
      section('What happened', log),
    ]),
  ]);
  const toggle = node(
    'button',
    { type: 'button', class: 'panel-toggle', 'aria-controls': 'panel-body', 'aria-expanded': 'false' },
    [node('span', {}, ['Behind the counter']), pill],
    {
      click: () => {
        const open = panel.toggleAttribute('data-open');
        toggle.setAttribute('aria-expanded', String(open));
      },
    },
  );
  panel.prepend(toggle);
  return panel;
};
