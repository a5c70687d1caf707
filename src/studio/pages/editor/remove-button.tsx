/** Takes a line of a list away: a small cross at the line's end. */
export const RemoveButton = ({ label, onClick }: { label: string; onClick(): void }) => (
  <button type="button" class="button quiet remove" aria-label={label} title={label} onClick={onClick}>
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d="M3 3l10 10M13 3L3 13" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" />
    </svg>
  </button>
);
