import type { Store } from '../platform/store.ts';

/**
 * Deletes the stored records of an app's users, but that of the present user, who may have signed in meanwhile. Other apps and
 * other versions stay.
 */
export const forgetUsers = async (
  store: Store,
  keyOf: (userId: string) => (string | number)[],
  present: () => string | null,
): Promise<void> => {
  const scope = keyOf('').slice(0, -1);
  // No user ID sorts after the last code unit.
  const found = await store.entries({ from: scope, to: [...scope, '\uffff'] });
  const keep = present();
  const kept = keep === null ? '' : JSON.stringify(keyOf(keep));
  await store.deleteMany(found.map(([key]) => key).filter((key) => JSON.stringify(key) !== kept));
};
