import { describe, expect, it } from 'vitest';
import { INSTANCES, isInstance } from '../../src/protocol/index.ts';

describe('the hosted instances', () => {
  it('contract 1.4: match the documented list of fifteen hosts', () => {
    expect(INSTANCES).toEqual({
      'US-01': 'https://rest.iad-01.braze.com',
      'US-02': 'https://rest.iad-02.braze.com',
      'US-03': 'https://rest.iad-03.braze.com',
      'US-04': 'https://rest.iad-04.braze.com',
      'US-05': 'https://rest.iad-05.braze.com',
      'US-06': 'https://rest.iad-06.braze.com',
      'US-07': 'https://rest.iad-07.braze.com',
      'US-08': 'https://rest.iad-08.braze.com',
      'US-10': 'https://rest.us-10.braze.com',
      'EU-01': 'https://rest.fra-01.braze.eu',
      'EU-02': 'https://rest.fra-02.braze.eu',
      'AU-01': 'https://rest.au-01.braze.com',
      'ID-01': 'https://rest.id-01.braze.com',
      'JP-01': 'https://rest.jp-01.braze.com',
      'KR-01': 'https://rest.kr-01.braze.com',
    });
  });

  it('match only by their exact labels', () => {
    expect(isInstance('EU-01')).toBe(true);
    for (const label of ['US-09', 'eu-01', 'EU-1', '', 'toString']) expect(isInstance(label)).toBe(false);
  });
});
