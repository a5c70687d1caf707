import { expect, test } from 'vitest';
import { fallbacks } from '../../../src/service/campaigns/languages.ts';

test('a tag falls back to its prefixes, and a long one costs no more than the longest known', () => {
  expect(fallbacks('pt_BR')).toEqual(['pt-br', 'pt']);
  expect(fallbacks('zh-Hant-TW')).toEqual(['zh-hant-tw', 'zh-hant', 'zh']);
  expect(fallbacks('a-'.repeat(10_000)).length).toBeLessThan(20);
});
