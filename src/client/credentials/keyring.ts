import { withTimeout } from '../platform/waits.ts';

/** How long the host's key function may think. */
const ASK_MS = 10_000;

/** A short print of the key, to know it again without storing it. FNV-1a over the code units. */
export const fingerprint = (key: string): string => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193) >>> 0;
  return `${key.length}-${hash.toString(36)}`;
};

export interface Keyring {
  /** The current key; rejects when the host's function fails. */
  ask(): Promise<string>;
  /** The key if it is known without asking: a page that goes away cannot wait. */
  current(): string | undefined;
  /** The server refused the key: the function is called again next time. */
  forget(): void;
}

/** Keeps the client key of a string or of a function that the host answers. */
export const createKeyring = (
  apiKey: string | (() => string | Promise<string>),
  after: (delayMs: number, callback: () => void) => () => void,
): Keyring => {
  let key = typeof apiKey === 'string' ? apiKey : undefined;
  let asking: Promise<string> | undefined;

  const provide = (): string | Promise<string> => (typeof apiKey === 'string' ? apiKey : apiKey());

  const ask = async (): Promise<string> => {
    try {
      const answered = await withTimeout(provide(), after, ASK_MS, 'apiKey()');
      if (typeof answered !== 'string' || answered === '') throw new Error('apiKey() answered no key');
      key = answered;
      return answered;
    } finally {
      asking = undefined;
    }
  };

  return {
    async ask() {
      if (key !== undefined) return key;
      asking ??= ask();
      return asking;
    },
    current: () => key,
    forget() {
      if (typeof apiKey !== 'string') key = undefined;
    },
  };
};
