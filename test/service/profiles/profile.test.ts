import { describe, expect, test } from 'vitest';
import { getOwn, setOwn } from '../../../src/service/profiles/profile.ts';

const INHERITED = [...Object.getOwnPropertyNames(Object.prototype)];

describe('inherited member names', () => {
  test.each(INHERITED)('%s is absent until it is set', (name) => {
    const record = JSON.parse('{ "tier": "gold" }') as Record<string, unknown>;
    expect(getOwn(record, name)).toBeUndefined();
    setOwn(record, name, 7);
    expect(getOwn(record, name)).toBe(7);
    expect(Object.getPrototypeOf(record)).toBe(Object.prototype);
    expect(Object.keys(record)).toEqual(['tier', name]);
  });

  test.each(INHERITED)('%s is read if the JSON contains it', (name) => {
    const record = JSON.parse(`{ "${name}": { "first": 1 } }`) as Record<string, unknown>;
    expect(getOwn(record, name)).toEqual({ first: 1 });
  });
});
