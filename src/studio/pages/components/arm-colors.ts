const COLORS = ['var(--accent)', 'var(--good)', 'var(--wait)', 'var(--bad)'];

/** Returns the color of a variant by its position in the campaign. */
export const getArmColor = (index: number): string => COLORS[index % COLORS.length]!;
