import { describe, expect, test } from 'vitest';
import {
  type BannerIdPayload,
  createBannerIds,
  stripUserTag,
} from '../../../src/service/campaigns/banner-id.ts';
import fc from '../../helpers/property.ts';

const facts: BannerIdPayload = {
  campaignId: 'spring-sale',
  variantId: 'a',
  placementId: 'home_hero',
  round: 0,
  isControl: false,
  isTestSend: false,
  language: null,
};
const ids = createBannerIds('demo', 'a secret');

const anyFacts = fc.record({
  campaignId: fc.string({ unit: 'grapheme', minLength: 1 }),
  variantId: fc.option(fc.string({ unit: 'grapheme', minLength: 1 })),
  placementId: fc.string({ unit: 'grapheme', minLength: 1 }),
  round: fc.nat(),
  isControl: fc.boolean(),
  isTestSend: fc.boolean(),
  language: fc.constantFrom(null, 'en', 'pt-BR'),
});

describe('a banner id', () => {
  test('decrypts to its data', () => {
    fc.assert(
      fc.property(anyFacts, (any) => {
        expect(ids.decode(ids.encode(any, 'u-1'))).toEqual(any);
      }),
    );
  });

  test('is the same for the same data on every replica with the secret', () => {
    expect(createBannerIds('demo', 'a secret').encode(facts, 'u-1')).toBe(ids.encode(facts, 'u-1'));
  });

  test('differs for other data, another workspace or another secret', () => {
    const others = [
      ids.encode(facts, 'u-1'),
      ids.encode({ ...facts, campaignId: 'other' }, 'u-1'),
      ids.encode({ ...facts, variantId: 'b' }, 'u-1'),
      ids.encode({ ...facts, variantId: null }, 'u-1'),
      ids.encode({ ...facts, placementId: 'other' }, 'u-1'),
      ids.encode({ ...facts, round: 1 }, 'u-1'),
      ids.encode({ ...facts, language: 'de' }, 'u-1'),
      ids.encode({ ...facts, isControl: true }, 'u-1'),
      ids.encode({ ...facts, isTestSend: true }, 'u-1'),
      createBannerIds('demo', 'another secret').encode(facts, 'u-1'),
      createBannerIds('other', 'a secret').encode(facts, 'u-1'),
    ];
    expect(new Set(others).size).toBe(others.length);
  });

  test('does not reveal its data', () => {
    const decoded = Buffer.from(ids.encode(facts, 'u-1').slice(4), 'base64url').toString('latin1');
    expect(ids.encode(facts, 'u-1') + decoded).not.toMatch(/spring|home_hero/);
  });

  test('is rejected if altered, truncated or extended', () => {
    const id = ids.encode(facts, 'u-1');
    // Except the last characters, which name the user.
    for (let position = 0; position < id.length - 8; position += 1) {
      const changed = id.slice(0, position) + (id[position] === 'A' ? 'B' : 'A') + id.slice(position + 1);
      expect(ids.decode(changed)).toBeNull();
      expect(ids.decode(id.slice(0, position))).toBeNull();
    }
    for (const other of [
      `${id}=`,
      `${id}A`,
      ` ${id}`,
      id.toUpperCase(),
      `${id.slice(0, 9)}.${id.slice(9)}`,
    ]) {
      expect(ids.decode(other)).toBeNull();
    }
  });

  test('ends with a tag of its user', () => {
    const id = ids.encode(facts, 'u-1');
    expect(ids.isIssuedTo(id, 'u-1')).toBe(true);
    expect(ids.isIssuedTo(id, 'u-2')).toBe(false);
    expect(createBannerIds('demo', 'another secret').isIssuedTo(id, 'u-1')).toBe(false);
    expect(stripUserTag(id)).toBe(stripUserTag(ids.encode(facts, 'u-2')));
  });

  test('is rejected if it belongs to another workspace or is malformed', () => {
    expect(createBannerIds('other', 'a secret').decode(ids.encode(facts, 'u-1'))).toBeNull();
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (any) => ids.decode(`bnr_${any}`) === null));
  });

  test('decrypts correctly after more IDs than the cache holds', () => {
    for (let round = 0; round < 25_000; round += 1) ids.encode({ ...facts, round }, 'u-1');
    expect(ids.decode(ids.encode({ ...facts, round: 3 }, 'u-1'))).toEqual({ ...facts, round: 3 });
  });
});
