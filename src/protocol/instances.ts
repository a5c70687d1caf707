/**
 * Hosted instances and their REST hosts. Do not derive a host from a label, because US-09 does not exist, US-10 has another
 * pattern, and EU has another top-level domain.
 */
export const INSTANCES = {
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
} as const;

/** Label of a hosted instance, for example `EU-01`. */
export type Instance = keyof typeof INSTANCES;

export const isInstance = (label: string): label is Instance => Object.hasOwn(INSTANCES, label);

/** Returns the label of an instance. Throws `TypeError` if there is no such instance. */
export const parseInstance = (label: string): Instance => {
  if (isInstance(label)) return label;
  throw new TypeError(`instance: '${label}' is not one of ${Object.keys(INSTANCES).join(', ')}`);
};
