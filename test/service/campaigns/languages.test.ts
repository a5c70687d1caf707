import { expect, test } from 'vitest';
import { fallbacks } from '../../../src/service/campaigns/languages.ts';

test('falls back to prefixes of a tag, and limits the cost of a long one to that of the longest known', () => {
  expect(fallbacks('pt_BR')).toEqual(['pt-br', 'pt']);
  expect(fallbacks('zh-Hant-TW')).toEqual(['zh-hant-tw', 'zh-hant', 'zh']);
  expect(fallbacks('a-'.repeat(10_000)).length).toBeLessThan(20);
});
