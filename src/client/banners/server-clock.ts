/** Below this the difference is the network's and the header's whole second, not a wrong clock. */
const THRESHOLD_MS = 60_000;

/** Server time minus device time in milliseconds, or `undefined` where the answer does not show its date. */
export const clockSkewMs = (headers: Headers, sentAtMs: number, receivedAtMs: number): number | undefined => {
  const date = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(date)) return undefined;
  const skew = date - (sentAtMs + receivedAtMs) / 2;
  return Math.abs(skew) < THRESHOLD_MS ? 0 : Math.round(skew);
};
