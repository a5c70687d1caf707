const FLAG = 'placard-devtools';

/** Whether the page's address asks for the devtools, or an earlier one of this tab did. */
export const isRequested = (): boolean => {
  const isInAddress = new URLSearchParams(location.search).has(FLAG);
  try {
    if (isInAddress) sessionStorage.setItem(FLAG, '');
    return sessionStorage.getItem(FLAG) !== null;
  } catch {
    // Blocked storage: each page needs the flag in its own address.
    return isInAddress;
  }
};

/** The next page of the tab opens without them. */
export const forgetRequest = (): void => {
  try {
    sessionStorage.removeItem(FLAG);
  } catch {
    // Blocked storage holds nothing of ours.
  }
};
