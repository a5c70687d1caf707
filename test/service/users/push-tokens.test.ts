import { expect, test } from 'vitest';
import type { PushToken } from '../../../src/service/profiles/profile.ts';
import { joinTokens, withTokens } from '../../../src/service/users/push-tokens.ts';
import fc from '../../helpers/property.ts';

const token = fc.record({
  app_id: fc.constantFrom('a', 'a b'),
  token: fc.constantFrom('1', '2', '3', 'b 1'),
  device_id: fc.constantFrom('x', 'y', 'z', 'b x'),
});
const tokens = fc.array(token, { maxLength: 8 });

const areRivals = (a: PushToken, b: PushToken) =>
  a.app_id === b.app_id && (a.token === b.token || a.device_id === b.device_id);

/** Reference implementation: adds the tokens one by one. */
const plainly = (stored: PushToken[], added: PushToken[]) =>
  added.reduce((list, one) => [...list.filter((other) => !areRivals(other, one)), one], stored);

const isOneEach = (list: PushToken[]) =>
  list.every((one, i) => list.every((other, j) => i === j || !areRivals(one, other)));

test('replaces tokens that have the device or the text of an added one', () => {
  fc.assert(
    fc.property(tokens, tokens, (stored, added) => {
      const before = plainly([], stored);
      expect(withTokens(before, added)).toEqual(plainly(before, added));
    }),
  );
});

test('does not replace existing tokens with merged ones', () => {
  fc.assert(
    fc.property(tokens, tokens, (first, second) => {
      const [kept, others] = [plainly([], first), plainly([], second)];
      const joined = joinTokens(kept, others);
      expect(joined.slice(0, kept.length)).toEqual(kept);
      expect(isOneEach(joined)).toBe(true);
      for (const other of others) expect(joined.some((one) => areRivals(one, other))).toBe(true);
    }),
  );
});
