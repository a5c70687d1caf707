export const removeLocal = (key: string): void => {
  try {
    localStorage.removeItem(key);
    sessionStorage.removeItem(key);
  } catch {
    // Blocked storage has no entries.
  }
};
