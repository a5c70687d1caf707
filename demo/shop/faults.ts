/** Simulated faults between the page and the service. */
export type Fault = 'offline' | 'down' | 'busy' | 'bad-event';

const BUSY_SECONDS = 8;

const answer = (status: number, message: string, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify({ message, error: message }), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });

/** Removes the time of the first event in a batch, to cause a rejection. */
const spoil = async (request: Request): Promise<Request> => {
  const body: { events?: Record<string, unknown>[] } = await request.clone().json();
  delete body.events?.[0]?.['timestamp'];
  return new Request(request, { body: JSON.stringify(body) });
};

/** Wraps `fetch` with simulated faults. */
export const createFaults = (send: typeof fetch = fetch.bind(globalThis)) => {
  const active = new Set<Fault>();
  const listeners = new Set<() => void>();
  const set = (fault: Fault, on: boolean) => {
    if (on) active.add(fault);
    else active.delete(fault);
    for (const listener of listeners) listener();
  };

  const faultyFetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (active.has('offline')) throw new TypeError('Failed to fetch');
    if (active.has('down')) return answer(503, 'Service Unavailable');
    if (active.has('busy')) {
      return answer(429, 'Over rate limit', { 'x-ratelimit-retry-after': String(BUSY_SECONDS) });
    }
    if (active.has('bad-event') && request.url.endsWith('/banners/track')) {
      set('bad-event', false);
      return send(await spoil(request));
    }
    return send(request);
  };

  return {
    fetch: faultyFetch,
    isOn: (fault: Fault) => active.has(fault),
    set,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
};
export type Faults = ReturnType<typeof createFaults>;
