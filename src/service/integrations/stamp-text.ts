/** Unix microseconds as text: `2026-03-01T04:00:00.123456Z`. */
export const stampText = (us: number): string => {
  const ms = Math.floor(us / 1_000);
  return new Date(ms).toISOString().replace('Z', `${String(us - ms * 1_000).padStart(3, '0')}Z`);
};
