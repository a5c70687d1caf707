/** Removes what localStorage keeps under this key. */
export const forgetLocal = (key: string): void => {
  try {
    localStorage.removeItem(key);
  } catch {
    // Blocked storage holds nothing of ours.
  }
};
