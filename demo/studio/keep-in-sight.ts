/**
 * Keeps the whole field that is typed in, with what is said of it, in sight, and the page where it stands beside the form.
 * Returns what brings them there again after something else has moved.
 */
export const keepInSight = (form: HTMLElement, page: HTMLElement) => {
  const bring = () => {
    const field = document.activeElement?.closest('.field');
    if (!field || !form.contains(field)) return;
    const { top, bottom } = page.getBoundingClientRect();
    const below = Math.min(top, bottom - innerHeight);
    // With a column of its own to scroll, the page stays where it was left.
    if (below > 0 && getComputedStyle(page).position === 'sticky') scrollBy({ top: below });
    field.scrollIntoView({ block: 'nearest' });
  };
  // Not as soon as it has the focus: what moves under a pointer that is down is not clicked.
  for (const type of ['click', 'keyup']) form.addEventListener(type, bring);
  return bring;
};
