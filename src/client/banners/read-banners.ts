import { isRecord, type PropertyType, readBanner, toBanner } from '../../protocol/index.ts';
import type { Banner } from '../banner.ts';
import type { Fail } from '../notices.ts';

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';

const IS_VALID: Record<PropertyType, (value: unknown) => boolean> = {
  string: isText,
  number: isNumber,
  boolean: (value) => typeof value === 'boolean',
  image: isText,
  jsonobject: isRecord,
  datetime: isNumber,
};

const isType = (type: string): type is PropertyType => Object.hasOwn(IS_VALID, type);

/** Names of properties whose value does not have the declared type, or whose type is unknown. */
export const invalidProperties = ({ properties }: Banner): string[] =>
  Object.keys(properties).filter((name) => {
    const { type, value } = properties[name]!;
    return !(isType(type) && IS_VALID[type](value));
  });

/** Reads the banners of an answer, by placement; what is not in it, or cannot be read, is a notice and left out. */
export const createReadBanners = (fail: Fail) => {
  /** Placements that an answer left out: one notice for each. */
  const unknown = new Set<string>();

  return (placements: string[], sent: Record<string, unknown>): Map<string, Banner | null> => {
    const banners = new Map<string, Banner | null>();
    for (const placementId of placements) {
      // A placement that is missing was not answered; only null says that there is none.
      if (!Object.hasOwn(sent, placementId)) {
        const message = `The service has no placement "${placementId}": check its spelling, and that the workspace has it`;
        if (!unknown.has(placementId)) fail('config', message);
        unknown.add(placementId);
        continue;
      }
      const wire = sent[placementId];
      const banner = wire === null ? null : readBanner(placementId, wire);
      if (typeof banner === 'string') {
        fail('property', `The banner of "${placementId}" cannot be read: its ${banner} is wrong`, wire);
      } else banners.set(placementId, banner && toBanner(banner));
    }
    return banners;
  };
};

export type ReadBanners = ReturnType<typeof createReadBanners>;
