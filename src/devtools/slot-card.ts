import type { Banner, Inspection, Inspector, PlacementState, SlotState, ViewState } from '../client/index.ts';
import { button, node, setAttribute, setText } from './node.ts';
import type { Outline } from './outline.ts';
import { getSlotStatus } from './slot-status.ts';
import { getBannerName, relativeTime } from './words.ts';

const percent = (share: number): string => `${Math.round(Math.min(1, share) * 100)}%`;

/**
 * Creates a meter of viewability: the visible share with a mark at the threshold, and below it the progress of the required
 * second.
 */
const createMeter = () => {
  const share = node('span', { class: 'meter-share' });
  const mark = node('span', { class: 'meter-mark' });
  const dwell = node('span', { class: 'meter-dwell' });
  const element = node(
    'div',
    {
      class: 'meter',
      role: 'meter',
      'aria-label': 'Share in view',
      'aria-valuemin': '0',
      'aria-valuemax': '100',
    },
    [share, mark, dwell],
  );
  return {
    element,
    update(view: ViewState, inView: number): void {
      const done = view.isSeen ? 1 : view.dwellMs / view.requiredMs;
      share.style.width = percent(inView);
      mark.style.left = percent(view.requiredShare);
      dwell.style.width = percent(done);
      setAttribute(element, 'data-enough', inView >= view.requiredShare);
      setAttribute(element, 'aria-valuenow', String(Math.round(inView * 100)));
      const text = `${percent(inView)} in view, ${percent(view.requiredShare)} required, ${percent(done)} of the time elapsed`;
      setAttribute(element, 'aria-valuetext', text);
    },
  };
};

const row = (name: string, value: string, hint = ''): HTMLElement[] => [
  node('dt', {}, hint ? [name, node('small', {}, [` ${hint}`])] : [name]),
  node('dd', {}, [value]),
];

const formatValue = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));

/** Returns all fields of a banner as rows of a `dl`. */
export const bannerDetails = (banner: Banner): HTMLElement[] => [
  ...row('Banner', banner.id),
  ...(banner.isTestSend ? row('Test send', 'in memory, excluded from results') : []),
  ...(banner.expiresAt === null ? [] : row('Expires', new Date(banner.expiresAt).toLocaleString('en-GB'))),
  ...Object.entries(banner.properties).flatMap(([name, { type, value }]) =>
    row(name, formatValue(value), type),
  ),
];

/** Returns the CLI command that explains the placement for a user, quoted for a shell. */
export const explainCommand = (userId: string, placementId: string): string => {
  const quoted = (text: string) => (/^[\w.@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  return `placard explain --user ${quoted(userId)} --placement ${quoted(placementId)}`;
};

interface CardOptions {
  placementId: string;
  inspector: Inspector;
  outline: Outline;
  /** Requests an immediate update. */
  changed: () => void;
}

interface CardState {
  placement: PlacementState;
  slot: SlotState | null;
  /** Last banner of this placement with content, shown or not. `focus()` renders it. */
  candidate: Banner | null;
  inspection: Inspection;
  /** Visible share of the slot, 0 to 1. */
  share: number;
  now: number;
}

const formatFacts = ({ fetchedAt, from, banner, isExpired }: PlacementState, now: number): string => {
  const facts = fetchedAt === null ? [] : [`synced ${relativeTime(fetchedAt, now)}`];
  if (banner !== undefined && from === 'cache') facts.push('from the cache');
  if (banner?.isTestSend) facts.push('test send');
  if (banner?.expiresAt && !isExpired) facts.push(`ends ${relativeTime(banner.expiresAt, now)}`);
  return facts.join(' · ');
};

/** Creates the card of a slot, or of a placement without a slot, with its content, the reason for the content, and actions. */
export const createSlotCard = ({ placementId, inspector, outline, changed }: CardOptions) => {
  const chip = node('span', { class: 'chip' });
  const name = node('p', { class: 'banner-name', dir: 'auto' });
  const meter = createMeter();
  const why = node('p', { class: 'why' });
  const command = node('code', { class: 'command' });
  const facts = node('p', { class: 'facts' });
  const rows = node('dl', {});
  const summary = node('summary');
  const details = node('details', {}, [summary, rows]);
  let current: CardState | undefined;
  let listed = '';

  const show = (): void => {
    if (current?.slot) outline.show(current.slot.element, placementId);
  };
  const scroll = (): void => {
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
    // On narrow screens the window covers the lower half.
    const block = matchMedia('(max-width: 30rem)').matches ? 'start' : 'center';
    current?.slot?.element.scrollIntoView({ block, behavior: isStill ? 'auto' : 'smooth' });
    show();
  };
  const toggleFocus = (): void => {
    if (!current) return;
    inspector.focus(placementId, current.placement.isFocused ? null : current.candidate);
    changed();
  };
  const find = button(['Find'], scroll, { 'aria-label': `Find ${placementId}` });
  const focus = button(['Focus'], toggleFocus, { 'aria-label': `Focus ${placementId}` });
  const element = node(
    'li',
    { class: 'card' },
    [
      node('div', { class: 'card-head' }, [node('p', { class: 'placement' }, [placementId]), chip]),
      name,
      meter.element,
      why,
      command,
      node('div', { class: 'card-foot' }, [facts, details, node('div', { class: 'buttons' }, [find, focus])]),
    ],
    { pointerenter: show, focusin: show, pointerleave: outline.hide, focusout: outline.hide },
  );

  const drawDetails = (banner: Banner | null, known: string): void => {
    details.hidden = banner === null;
    facts.hidden = banner !== null;
    setText(banner ? summary : facts, banner ? ['details', known].filter(Boolean).join(' · ') : known);
    const text = JSON.stringify(banner);
    if (!banner || text === listed) return;
    listed = text;
    rows.replaceChildren(...bannerDetails(banner));
  };

  return {
    placementId,
    element,
    update(state: CardState): void {
      current = state;
      const { placement, slot, candidate, inspection, share, now } = state;
      const { tone, title, why: reason } = getSlotStatus(placement, slot, { inspection, share, now });
      setText(chip, title);
      setAttribute(element, 'data-tone', tone);
      setText(why, reason);
      const banner = slot?.shown ?? placement.banner ?? null;
      const isDrawn = slot?.shown?.isControl === false;
      name.hidden = !banner || banner.isControl;
      if (banner) setText(name, getBannerName(banner));
      meter.element.hidden = !isDrawn || !slot?.view;
      if (isDrawn && slot?.view) meter.update(slot.view, share);
      command.hidden = title !== 'No banner' || inspection.userId === null;
      if (inspection.userId !== null) setText(command, explainCommand(inspection.userId, placementId));
      find.hidden = !slot;
      // An invalid banner would also be invalid when focused.
      const canFocus = candidate && slot && slot.emptyReason !== 'invalid' && inspection.userId !== null;
      focus.hidden = !canFocus && !placement.isFocused;
      setAttribute(focus, 'aria-pressed', String(placement.isFocused));
      drawDetails(banner?.isControl ? null : banner, formatFacts(placement, now));
    },
  };
};

export type SlotCard = ReturnType<typeof createSlotCard>;
