import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseSecret, signedHeaders } from '../../../src/service/webhooks/sign.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

// Published test vectors of Standard Webhooks.
const VECTORS = [
  [
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1614265330,
    '{"test": 2432232314}',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ],
  [
    'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
    1674087231,
    '{"type":"contact.created","timestamp":"2022-11-03T20:26:10.344522Z","data":{"id":"1f81eb52-5198-4599-803e-771906343485"}}',
    'v1,ARw42xaAApl/nxRo+iPGYwSaMQaOwMo2eyH5JBRA+bQ=',
  ],
] as const;

describe('signedHeaders', () => {
  test.each(VECTORS)('signs the published vector %s', (id, timestamp, body, signature) => {
    for (const secret of [SECRET, SECRET.slice('whsec_'.length)])
      expect(signedHeaders([parseSecret(secret)], { id, timestamp, body })).toEqual({
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signature,
      });
  });

  test('signs with both secrets during a rotation', () => {
    const [id, timestamp, body, signature] = VECTORS[0];
    const next = randomBytes(32);
    const headers = signedHeaders([next, parseSecret(SECRET)], { id, timestamp, body });
    const [first, second] = headers['webhook-signature']!.split(' ');
    expect(second).toBe(signature);
    const own = createHmac('sha256', next).update(`${id}.${timestamp}.${body}`).digest('base64');
    expect(first).toBe(`v1,${own}`);
  });
});

describe('parseSecret', () => {
  test.each([
    'whsec_',
    'whsec_c2hvcnQ=',
    `whsec_${randomBytes(65).toString('base64')}`,
    'whsec_not base64, and long enough to be a key of 24 bytes',
  ])('rejects %s', (secret) => {
    expect(() => parseSecret(secret)).toThrow('expected "whsec_" and 24 to 64 bytes in base64');
  });
});
