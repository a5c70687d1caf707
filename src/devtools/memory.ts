const STORED_AS = 'placard-devtools';

/** Panel state kept across the pages of an origin. */
interface Remembered {
  /** Distances from the right and the bottom edge of the window, in CSS pixels. */
  x: number;
  y: number;
  isSmall: boolean;
  tab: string;
}

const BEGINNING: Remembered = { x: 12, y: 12, isSmall: false, tab: 'Placements' };

export const recall = (): Remembered => {
  try {
    const stored: Partial<Remembered> = Object(JSON.parse(localStorage.getItem(STORED_AS) ?? 'null'));
    return {
      x: Number.isFinite(stored.x) ? stored.x! : BEGINNING.x,
      y: Number.isFinite(stored.y) ? stored.y! : BEGINNING.y,
      isSmall: stored.isSmall === true,
      tab: String(stored.tab ?? BEGINNING.tab),
    };
  } catch {
    // Storage is blocked or the value is invalid, so the defaults apply.
    return BEGINNING;
  }
};

export const remember = (change: Partial<Remembered>): void => {
  try {
    localStorage.setItem(STORED_AS, JSON.stringify({ ...recall(), ...change }));
  } catch {
    // If storage is full or blocked, the next page uses the defaults.
  }
};
