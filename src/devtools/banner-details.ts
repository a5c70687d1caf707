import type { Banner } from '../client/index.ts';
import { node } from './node.ts';

const row = (name: string, value: string, hint = ''): HTMLElement[] => [
  node('dt', {}, hint ? [name, node('small', {}, [` ${hint}`])] : [name]),
  node('dd', {}, [value]),
];

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));

/** What a person would call the banner: its headline, else its first text, else its ID. */
export const nameOf = (banner: Banner): string => {
  const { headline, ...others } = banner.properties;
  const text = [headline, ...Object.values(others)].find(
    (property) => property?.type === 'string' && property.value !== '',
  );
  return text ? String(text.value) : banner.id;
};

/** Everything that is known of a banner, as rows of a `dl`. */
export const bannerDetails = (banner: Banner): HTMLElement[] => [
  ...row('Banner', banner.id),
  ...(banner.isTestSend ? row('Test send', 'kept in memory, left out of reports') : []),
  ...(banner.expiresAt === null ? [] : row('Expires', new Date(banner.expiresAt).toLocaleString('en-GB'))),
  ...Object.entries(banner.properties).flatMap(([name, { type, value }]) => row(name, textOf(value), type)),
];

/** Asks the service why this user gets what they get; the words are quoted for a shell. */
export const explainCommand = (userId: string, placementId: string): string => {
  const quoted = (text: string) => (/^[\w.@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  return `placard explain --user ${quoted(userId)} --placement ${quoted(placementId)}`;
};
