import type { Banner, Inspector } from '../client/index.ts';
import { node } from './node.ts';
import { createOutline } from './outline.ts';
import type { PanelState } from './panel-state.ts';
import { createSlotCard, type SlotCard } from './slot-card.ts';

/** Number of thresholds, which determines the resolution of the meter. */
const STEPS = 20;
const THRESHOLD = Array.from({ length: STEPS + 1 }, (_, step) => step / STEPS);

/**
 * Measures the visible share of each element, including clipping by scroll containers. The client does not, because it observes
 * only its own thresholds.
 */
const createShareInView = () => {
  const shares = new WeakMap<Element, number>();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting, intersectionRatio } of entries)
        shares.set(target, isIntersecting ? intersectionRatio : 0);
    },
    { threshold: THRESHOLD },
  );
  return {
    /** Returns the visible share, 0 to 1; 0 until measured. */
    of(element: Element): number {
      if (!shares.has(element)) {
        shares.set(element, 0);
        observer.observe(element);
      }
      // For an element without a size, the observer reports full visibility.
      const { width, height } = element.getBoundingClientRect();
      return width * height === 0 ? 0 : shares.get(element)!;
    },
    stop: () => observer.disconnect(),
  };
};

const hasContent = (banner: Banner | null | undefined): banner is Banner => banner?.isControl === false;

/** Sorts cards by slot position on the page; placements without a slot come last. */
const inPageOrder = (cards: ReadonlyMap<Element | string, SlotCard>): SlotCard[] => {
  const compare = ([a]: [Element | string, SlotCard], [b]: [Element | string, SlotCard]): number => {
    if (typeof a === 'string' || typeof b === 'string')
      return Number(typeof a === 'string') - Number(typeof b === 'string');
    return a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
  };
  return [...cards].sort(compare).map(([, card]) => card);
};

/** Creates the view with a card for each slot, and for each placement without a slot. A slot keeps its card while mounted. */
export const createPlacementsView = (inspector: Inspector, changed: () => void) => {
  const outline = createOutline();
  const cards = new Map<Element | string, SlotCard>();
  const shares = createShareInView();
  const list = node('ul', { class: 'cards' });
  const nothing = node('p', { class: 'nothing' }, [
    'No placements yet. Mount one: placard.mount(placementId, element, hook).',
  ]);
  const element = node('div', {}, [list, nothing]);

  /** Returns the latest banner that the service sent for a placement, even if dismissed or expired. */
  const findCandidate = (placementId: string, answer: Banner | null | undefined, { history }: PanelState) => {
    if (hasContent(answer)) return answer;
    const synced = history.flatMap(({ notice }) =>
      notice.type === 'synced' ? [notice.banners[placementId]] : [],
    );
    return synced.filter(hasContent).at(-1) ?? null;
  };

  return {
    element,
    outline,
    update(state: PanelState): void {
      const { inspection, now } = state;
      const present = new Map<Element | string, SlotCard>();
      for (const placement of inspection.placements) {
        const { placementId, banner } = placement;
        const candidate = findCandidate(placementId, banner, state);
        for (const slot of placement.slots.length > 0 ? placement.slots : [null]) {
          const key = slot?.element ?? placementId;
          const current = cards.get(key);
          const card =
            current?.placementId === placementId
              ? current
              : createSlotCard({ placementId, inspector, outline, changed });
          present.set(key, card);
          const share = slot ? shares.of(slot.element) : 0;
          card.update({ placement, slot, candidate, inspection, share, now });
        }
      }
      for (const [key, card] of cards) if (present.get(key) !== card) card.element.remove();
      cards.clear();
      for (const [key, card] of present) cards.set(key, card);
      const elements = inPageOrder(present).map((card) => card.element);
      // Does not move nodes that are already in order, to keep focus.
      elements.forEach((card, index) => {
        if (list.children[index] !== card) list.insertBefore(card, list.children[index] ?? null);
      });
      nothing.hidden = elements.length > 0;
    },
    stop(): void {
      outline.hide();
      shares.stop();
    },
  };
};
