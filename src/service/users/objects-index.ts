import { getOwn } from '../profiles/own.ts';

type Members = Record<string, unknown>;
type Positions = Set<number>;

const NOWHERE: ReadonlySet<number> = new Set();

/**
 * The positions in a list of the objects whose member is a certain text, number or boolean. `list` may change, if the
 * index is called for each change.
 */
export const createObjectsIndex = (list: readonly (Members | null)[]) => {
  const byKey = new Map<string, Map<unknown, Positions>>();
  let hasAllKeys = false;

  const has = (key: string): boolean => hasAllKeys || byKey.has(key);

  const enter = (position: number, key: string, value: unknown) => {
    if (typeof value === 'object' || value === undefined || !has(key)) return;
    let byValue = byKey.get(key);
    if (!byValue) {
      byValue = new Map();
      byKey.set(key, byValue);
    }
    const found = byValue.get(value);
    if (found) found.add(position);
    else byValue.set(value, new Set([position]));
  };
  const leave = (position: number, key: string, value: unknown) =>
    byKey.get(key)?.get(value)?.delete(position);

  const enterAll = (position: number, object: Members) => {
    if (byKey.size === 0 && !hasAllKeys) return;
    for (const key of Object.keys(object)) enter(position, key, getOwn(object, key));
  };

  return {
    has,
    enter,
    leave,
    enterAll,
    leaveAll(position: number, object: Members) {
      if (byKey.size > 0) for (const key of Object.keys(object)) leave(position, key, getOwn(object, key));
    },

    /** To be called before these keys are asked for. */
    cover(keys: ReadonlySet<string>) {
      if ([...keys].every(has)) return;
      // One pass for the keys of the first edit, and one for all that later ones may ask.
      if (byKey.size > 0) {
        hasAllKeys = true;
        byKey.clear();
      } else for (const key of keys) byKey.set(key, new Map());
      for (const [position, object] of list.entries()) if (object) enterAll(position, object);
    },

    positionsOf: (key: string, value: unknown): ReadonlySet<number> => byKey.get(key)?.get(value) ?? NOWHERE,
  };
};
