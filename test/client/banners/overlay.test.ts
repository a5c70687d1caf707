import { expect, test } from 'vitest';
import { dropTestSends, focusOn, isFocus, putTestSend } from '../../../src/client/banners/overlay.ts';
import type { Banner } from '../../../src/client/index.ts';
import { aBanner } from '../../helpers/a-banner.ts';

const testSend = (id: string) => aBanner({ id, isTestSend: true });
const focused = focusOn(aBanner());

test('a focused banner is a copy that never ends, and never counts as the original', () => {
  const original = aBanner({ isControl: true, expiresAt: 1 });
  expect(focusOn(original)).toMatchObject({ isControl: false, isTestSend: true, expiresAt: null });
  expect(isFocus(focusOn(original).id)).toBe(true);
  expect(isFocus(original.id)).toBe(false);
});

test('a test send gives way to the next answer', () => {
  const overlay = new Map<string, Banner | null>([['a', testSend('t-1')]]);
  putTestSend(overlay, 'a', testSend('t-2'));
  expect(overlay.get('a')?.id).toBe('t-2');
  putTestSend(overlay, 'a', aBanner());
  expect(overlay.size).toBe(0);
  putTestSend(overlay, 'a', null);
  expect(overlay.size).toBe(0);
});

test('no answer and no new session takes away what the inspector focuses or hides', () => {
  const overlay = new Map<string, Banner | null>([
    ['focused', focused],
    ['hidden', null],
    ['test', testSend('t-1')],
  ]);
  for (const placementId of ['focused', 'hidden']) putTestSend(overlay, placementId, testSend('t-2'));
  dropTestSends(overlay);
  expect([...overlay]).toEqual([
    ['focused', focused],
    ['hidden', null],
  ]);
});
