/** Removes what localStorage and sessionStorage keep under this key. */
export const forgetLocal = (key: string): void => {
  try {
    localStorage.removeItem(key);
    sessionStorage.removeItem(key);
  } catch {
    // Blocked storage holds nothing of ours.
  }
};
