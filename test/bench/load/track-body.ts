/** Users per request: each has an attributes object; events and purchases are spread over them. */
const USERS = 25;
const EVENTS = 40;
const PURCHASES = 10;
const ID_DIGITS = 8;
const PLACEHOLDER = '#'.repeat(ID_DIGITS);
/** Placeholder for the send time, because repeated times would make an index by time cheaper than it is. */
const TIME = '@'.repeat('2026-03-01T09:00:00.000Z'.length);

export const userId = (number: number): string => `user-${String(number).padStart(ID_DIGITS, '0')}`;

const TIERS = ['bronze', 'silver', 'gold', 'platinum'];
const EVENT_NAMES = ['product_viewed', 'added_to_cart', 'search_performed', 'article_read', 'video_played'];

/** 75 objects, about 10 KB, with placeholders for user numbers and the time. */
const template = (seed: number): string => {
  const id = `user-${PLACEHOLDER}`;
  return JSON.stringify({
    attributes: Array.from({ length: USERS }, (_, i) => ({
      external_id: id,
      first_name: 'Katarzyna',
      country: 'PL',
      tier: TIERS[(seed + i) % TIERS.length],
      visits: { inc: 1 },
      newsletter: (seed + i) % 2 === 0,
    })),
    events: Array.from({ length: EVENTS }, (_, i) => ({
      external_id: id,
      name: EVENT_NAMES[(seed + i) % EVENT_NAMES.length],
      time: TIME,
      properties: { category: 'garden', position: (seed + i) % 40, from: 'home' },
    })),
    purchases: Array.from({ length: PURCHASES }, (_, i) => ({
      external_id: id,
      product_id: `sku-${(seed + i) % 8}`,
      currency: 'EUR',
      price: 19.99 + ((seed + i) % 30),
      quantity: 1 + (i % 3),
      time: TIME,
    })),
  });
};

/**
 * Returns requests for one run: a few templates filled with different users, which costs the load generator next to
 * nothing.
 */
export const createTrackRequests = (options: { key: string; path?: string; pickUser: () => number }) => {
  const bodies = Array.from({ length: 16 }, (_, seed) => template(seed));
  const requests = bodies.map((body) => {
    const head = [
      `POST ${options.path ?? '/users/track'} HTTP/1.1`,
      'Host: 127.0.0.1',
      `Authorization: Bearer ${options.key}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      '',
    ].join('\r\n');
    const bytes = Buffer.from(head + body);
    const getPlaces = (placeholder: string) => {
      const places: number[] = [];
      for (
        let at = bytes.indexOf(placeholder);
        at >= 0;
        at = bytes.indexOf(placeholder, at + placeholder.length)
      )
        places.push(at);
      return places;
    };
    return { bytes, places: getPlaces(PLACEHOLDER), times: getPlaces(TIME) };
  });
  const numbers = new Array<number>(USERS).fill(0);
  let turn = 0;
  return (): Buffer => {
    turn = (turn + 1) % requests.length;
    const { bytes, places, times } = requests[turn]!;
    for (let i = 0; i < USERS; i += 1) numbers[i] = options.pickUser();
    const request = Buffer.from(bytes);
    const time = new Date().toISOString();
    for (const place of times) request.write(time, place, 'latin1');
    places.forEach((place, i) => {
      let number = numbers[i % USERS]!;
      for (let digit = ID_DIGITS - 1; digit >= 0; digit -= 1) {
        request[place + digit] = 48 + (number % 10);
        number = Math.floor(number / 10);
      }
    });
    return request;
  };
};
