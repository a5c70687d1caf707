import { describe, expect, test } from 'vitest';
import { divideTrack, isDivisible } from '../../../src/service/replicas/divide.ts';
import { type Track, trackWork } from '../../../src/service/users/track-work.ts';
import { APP_ID } from '../../helpers/a-workspace.ts';
import fc from '../../helpers/property.ts';
import { aTrack, GROUP, TIME } from './a-track.ts';

const isDivided = (track: Track) => isDivisible(track, trackWork(track).lookups);

const anEvent = (externalId: string, n: number) => ({ external_id: externalId, name: `e-${n}`, time: TIME });
const ids = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 20 });

test('the parts are the track: nothing is missing, nothing is there twice, a user has his in their order', () => {
  const ownerOf = (_: string, externalId: string) => (externalId < 'c' ? 'first' : 'second');
  fc.assert(
    fc.property(ids, ids, (attributeIds, eventIds) => {
      const track = aTrack({
        attributes: attributeIds.map((id, n) => ({ external_id: id, n })),
        events: eventIds.map(anEvent),
      });
      const parts = divideTrack(track, ownerOf);
      for (const owner of ['first', 'second'] as const) {
        const isOwn = ({ identity }: { identity: { lookup: { value: unknown } } | null }) =>
          ownerOf('test', identity!.lookup.value as string) === owner;
        const attributes = track.attributes.filter(isOwn);
        const doings = track.doings.filter(isOwn);
        const expected = attributes.length + doings.length > 0 ? { ...track, attributes, doings } : undefined;
        expect(parts.get(owner)).toEqual(expected);
      }
    }),
  );
});

describe('a track can be divided', () => {
  test('where every object names its user by external ID', () => {
    const attributes = [{ external_id: 'a', email: 'kim@example.org' }, { external_id: 'b' }];
    expect(isDivided(aTrack({ attributes, events: [anEvent('c', 1)] }))).toBe(true);
  });

  test.each([
    ['an alias', { user_alias: { alias_name: 'n', alias_label: 'l' } }],
    ['an e-mail address', { email: 'kim@example.org' }],
    ['a phone number', { phone: '+48123456789' }],
    ['an ID of ours', { braze_id: 'a'.repeat(25) }],
  ])('but not where one is named by %s', (_, identity) => {
    expect(isDivided(aTrack({ attributes: [{ external_id: 'a' }, { ...identity, n: 1 }] }))).toBe(false);
    const events = [{ ...anEvent('', 1), ...identity }];
    expect(isDivided(aTrack({ attributes: [{ external_id: 'a' }], events }))).toBe(false);
  });

  test('nor where a subscription state goes to everyone with an e-mail address', () => {
    const groups = [{ subscription_group_id: GROUP, subscription_state: 'subscribed' }];
    const spread = { external_id: 'a', email: 'kim@example.org', subscription_groups: groups };
    expect(isDivided(aTrack({ attributes: [spread] }))).toBe(false);
    expect(isDivided(aTrack({ attributes: [{ ...spread, email: undefined }] }))).toBe(true);
  });

  test('nor where tokens are imported, were they all wrong', () => {
    for (const token of [{ app_id: APP_ID, token: 't-1' }, { token: 1 }]) {
      const track = aTrack({ attributes: [{ push_token_import: true, push_tokens: [token] }] });
      expect(track.attributes).toHaveLength(1);
      expect(isDivided(track)).toBe(false);
    }
  });
});
