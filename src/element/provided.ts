import type { Placard, PlacementHook } from '../client/index.ts';
import { createTemplates, type TemplateName } from '../templates/index.ts';

/** Hooks by name, for the `template` attribute. */
export type HookRegistry = Readonly<Record<string, PlacementHook>>;

const BUILT_IN: Readonly<Record<TemplateName, PlacementHook>> = createTemplates();

let current: Placard | null = null;
let hooks: HookRegistry = BUILT_IN;
const listeners = new Set<() => void>();

/**
 * Sets the client of all `<placard-banner>` elements, current and future; `null` removes it. `templates` adds or replaces
 * templates by name, for example those of `createTemplates({ navigate })`.
 */
export const providePlacard = (placard: Placard | null, templates: HookRegistry = {}): void => {
  current = placard;
  hooks = { ...BUILT_IN, ...templates };
  for (const listener of [...listeners]) listener();
};

export const providedPlacard = (): Placard | null => current;
/**
 * Returns the hook of a template name; `undefined` if none. Reads only own properties, so that `constructor` is not a template.
 */
export const namedHook = (name: string): PlacementHook | undefined =>
  Object.hasOwn(hooks, name) ? hooks[name] : undefined;
export const hookNames = (): string[] => Object.keys(hooks);

/** Calls `listener` when the client or the templates change. Returns a function that unsubscribes. */
export const onProvided = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};
