import { getOwn } from '../profiles/own.ts';

type Members = Record<string, unknown>;
type Places = Set<number>;

const NOWHERE: ReadonlySet<number> = new Set();

/**
 * Where in a list the objects are whose member is a certain text, number or boolean. `places` may change, if each
 * change is told.
 */
export const createObjectsIndex = (places: readonly (Members | null)[]) => {
  const byKey = new Map<string, Map<unknown, Places>>();
  let hasAllKeys = false;

  const has = (key: string): boolean => hasAllKeys || byKey.has(key);

  const enter = (place: number, key: string, value: unknown) => {
    if (typeof value === 'object' || value === undefined || !has(key)) return;
    let byValue = byKey.get(key);
    if (!byValue) {
      byValue = new Map();
      byKey.set(key, byValue);
    }
    const found = byValue.get(value);
    if (found) found.add(place);
    else byValue.set(value, new Set([place]));
  };
  const leave = (place: number, key: string, value: unknown) => byKey.get(key)?.get(value)?.delete(place);

  const enterAll = (place: number, object: Members) => {
    if (byKey.size === 0 && !hasAllKeys) return;
    for (const key of Object.keys(object)) enter(place, key, getOwn(object, key));
  };

  return {
    has,
    enter,
    leave,
    enterAll,
    leaveAll(place: number, object: Members) {
      if (byKey.size > 0) for (const key of Object.keys(object)) leave(place, key, getOwn(object, key));
    },

    /** To be called before these keys are asked for. */
    cover(keys: ReadonlySet<string>) {
      if ([...keys].every(has)) return;
      // One pass for the keys of the first edit, and one for all that later ones may ask.
      if (byKey.size > 0) {
        hasAllKeys = true;
        byKey.clear();
      } else for (const key of keys) byKey.set(key, new Map());
      for (const [place, object] of places.entries()) if (object) enterAll(place, object);
    },

    placesOf: (key: string, value: unknown): ReadonlySet<number> => byKey.get(key)?.get(value) ?? NOWHERE,
  };
};
