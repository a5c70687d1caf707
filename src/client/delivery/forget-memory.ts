import type { FallbackStore } from '../platform/fallback-store.ts';

/**
 * Forgets what memory mode keeps. The disk is left alone, unlike with `clear()`: the tab that emptied it may have begun
 * anew there.
 */
export const forgetMemory = async (
  store: Pick<FallbackStore, 'entries' | 'isMemory' | 'update'>,
): Promise<void> => {
  if (!store.isMemory()) return;
  const keys = (await store.entries()).map(([key]) => key);
  // The disk may be back by now.
  await store.update(keys, () => (store.isMemory() ? keys.map((key) => [key, undefined]) : []));
};
