import type { Placard, PlacementHook } from '../client/index.ts';
import { hookNames, namedHook, onProvided, providedPlacard } from './provided.ts';

const DEFAULT_TEMPLATE = 'card';

/** An element's own properties; its attributes and `providePlacard` give the rest. */
export interface OwnProperties {
  placard: Placard | null;
  hook: PlacementHook | null;
}

interface Mount {
  /** Style sheets and nodes belong to one document: a frame needs its own. */
  document: Document;
  placard: Placard;
  placementId: string;
  hook: PlacementHook;
}

const warned = new Set<string>();

/** An element cannot throw to the author of the markup, who looks into the console. Once for each name. */
const warnOf = (template: string): void => {
  if (warned.has(template)) return;
  warned.add(template);
  console.warn(`<placard-banner>: template "${template}" is none of ${hookNames().join(', ')}`);
};

/**
 * Keeps one element mounted as its attributes, its properties and the provided client say. Changes are gathered in a
 * microtask: an element that is moved is back in the page by then, and stays mounted as it was.
 */
export const mountElement = (element: HTMLElement, own: OwnProperties) => {
  let mounted: (Mount & { unmount: () => void }) | null = null;
  let stopListening: (() => void) | null = null;
  let isWaiting = false;

  const wantedMount = (): Mount | null => {
    const placard = own.placard ?? providedPlacard();
    const placementId = element.getAttribute('placement');
    if (!element.isConnected || !placard || !placementId) return null;
    const template = element.getAttribute('template') ?? DEFAULT_TEMPLATE;
    const hook = own.hook ?? namedHook(template);
    if (!hook) warnOf(template);
    return hook ? { document: element.ownerDocument, placard, placementId, hook } : null;
  };

  const settle = () => {
    isWaiting = false;
    if (!element.isConnected) {
      stopListening?.();
      stopListening = null;
    } else stopListening ??= onProvided(soon);
    const next = wantedMount();
    const isSame =
      mounted?.document === next?.document &&
      mounted?.placard === next?.placard &&
      mounted?.placementId === next?.placementId &&
      mounted?.hook === next?.hook;
    if (isSame) return;
    mounted?.unmount();
    mounted = next && { ...next, unmount: next.placard.mount(next.placementId, element, next.hook) };
  };
  const soon = () => {
    if (isWaiting) return;
    isWaiting = true;
    queueMicrotask(settle);
  };

  return { changed: soon };
};
