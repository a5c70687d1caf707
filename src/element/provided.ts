import type { Placard, PlacementHook } from '../client/index.ts';
import { createTemplates, type TemplateName } from '../templates/index.ts';

/** Hooks by the name in a `template` attribute. */
export type NamedHooks = Readonly<Record<string, PlacementHook>>;

const BUILT_IN: Readonly<Record<TemplateName, PlacementHook>> = createTemplates();

let current: Placard | null = null;
let hooks: NamedHooks = BUILT_IN;
const listeners = new Set<() => void>();

/**
 * Gives all `<placard-banner>` elements their client, those that are in the page already and those to come; `null`
 * takes it away. `templates` replaces or adds names, for instance what `createTemplates({ navigate })` makes.
 */
export const providePlacard = (placard: Placard | null, templates: NamedHooks = {}): void => {
  current = placard;
  hooks = { ...BUILT_IN, ...templates };
  for (const listener of [...listeners]) listener();
};

export const providedPlacard = (): Placard | null => current;
/** Own names only: `constructor` is no template. */
export const namedHook = (name: string): PlacementHook | undefined =>
  Object.hasOwn(hooks, name) ? hooks[name] : undefined;
export const hookNames = (): string[] => Object.keys(hooks);

/** Calls `listener` when the client or the templates change; answers a function that stops it. */
export const onProvided = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};
