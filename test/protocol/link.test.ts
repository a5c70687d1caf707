import { describe, expect, it } from 'vitest';
import { findCursor, formatLink, parseLink } from '../../src/protocol/index.ts';
import fc from '../helpers/property.ts';

const BASE = 'https://rest.example.com';

describe('the Link header', () => {
  it('contract 2.1: parses the documented format, with a bare comma and unescaped padding', () => {
    const header =
      '</cdi/integrations?cursor=c2tpcDow>; rel="prev",</cdi/integrations?cursor=c2tpcDoyMA==>; rel="next"';
    expect(parseLink(header)).toEqual({
      prev: '/cdi/integrations?cursor=c2tpcDow',
      next: '/cdi/integrations?cursor=c2tpcDoyMA==',
    });
  });

  it.each([
    [
      'spaces wherever they are allowed',
      '  </a> ;  rel = "next"  ,  </b>;rel="prev" ',
      { next: '/a', prev: '/b' },
    ],
    ['a relation without quotes', '</a>; rel=next', { next: '/a' }],
    ['several relations of one target', '</a>; rel="next last"', { next: '/a', last: '/a' }],
    ['relations in any case', '</a>; REL="Next"', { next: '/a' }],
    [
      'other parameters, with commas and semicolons in quotes',
      '</a>; title="x, y; z"; rel="next", </b>; rel="prev"',
      { next: '/a', prev: '/b' },
    ],
    ['an escaped quote', String.raw`</a>; title="\"<"; rel="next"`, { next: '/a' }],
    ['commas inside a target', '</a?x=1,2>; rel="next"', { next: '/a?x=1,2' }],
    ['the first of two targets for a relation', '</a>; rel="next", </b>; rel="next"', { next: '/a' }],
    ['a target without a relation as nothing', '</a>', {}],
    ['an extended parameter that only resembles one as nothing', '</a>; xrel="next"', {}],
  ])('parses %s', (_, header, links) => {
    expect(parseLink(header)).toEqual(links);
  });

  it.each([null, undefined, '', 'nonsense', '<', '<>;', '</a>; rel="'])(
    'returns no relation for %j',
    (header) => {
      expect(parseLink(header)).toEqual({});
    },
  );

  it('parses any text without an exception and in linear time', () => {
    fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => void parseLink(text)));
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('<', '>', ';', ',', '"', '\\', '=', ' ', 'rel'), maxLength: 300 }),
        (text) => void parseLink(text),
      ),
    );
    // Takes milliseconds in linear time; in quadratic time the test would exceed its timeout of one minute.
    parseLink(`</a>${'; a="'.repeat(500_000)}`);
  });

  it('parses a relation with the name of an Object.prototype member', () => {
    const links = parseLink('</a>; rel="constructor __proto__"');
    expect(Object.hasOwn(links, 'constructor')).toBe(true);
    expect(Object.getPrototypeOf(parseLink('</a>; rel="__proto__"'))).toBe(Object.prototype);
  });

  it('contract 2.1: formats relative targets, prev first, with a bare comma as the separator', () => {
    expect(formatLink({ next: 'Mg==', prev: 'MA==' })).toBe(
      '</cdi/integrations?cursor=MA==>; rel="prev",</cdi/integrations?cursor=Mg==>; rel="next"',
    );
    expect(formatLink({ next: 'Mg==' })).toBe('</cdi/integrations?cursor=Mg==>; rel="next"');
    expect(formatLink({ prev: undefined, next: undefined })).toBeUndefined();
  });

  it('round-trips any cursor', () => {
    const cursor = fc
      .tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.boolean())
      .map(([bytes, url]) => Buffer.from(bytes).toString(url ? 'base64url' : 'base64'));
    fc.assert(
      fc.property(cursor, fc.option(cursor, { nil: undefined }), (next, prev) => {
        const links = parseLink(formatLink({ next, prev }));
        expect(findCursor(links['next']!, BASE)).toBe(next);
        expect(links['prev'] === undefined ? undefined : findCursor(links['prev'], BASE)).toBe(prev);
      }),
    );
  });
});

describe('the cursor of a link target', () => {
  it('is parsed from relative and absolute targets of the same origin', () => {
    expect(findCursor('/cdi/integrations?cursor=abc', BASE)).toBe('abc');
    expect(findCursor('?cursor=abc', `${BASE}/cdi/integrations`)).toBe('abc');
    expect(findCursor('https://rest.example.com:443/x?cursor=abc', BASE)).toBe('abc');
  });

  it('is percent-decoded', () => {
    expect(findCursor('/x?cursor=a%2Bb%3D', BASE)).toBe('a+b=');
    expect(findCursor('/x?cursor=a+b=', BASE)).toBe('a+b=');
  });

  it.each([
    'https://elsewhere.example/cdi/integrations?cursor=abc',
    '//elsewhere.example/cdi/integrations?cursor=abc',
    'http://rest.example.com/cdi/integrations?cursor=abc',
    'https://rest.example.com:8443/x?cursor=abc',
    'https://rest.example.com@elsewhere.example/x?cursor=abc',
    'javascript:alert(1)?cursor=abc',
    'https://[broken?cursor=abc',
  ])('is not parsed from %s, because a key must not leak to another origin', (target) => {
    expect(findCursor(target, BASE)).toBeUndefined();
  });

  it('is missing if the target has none', () => {
    expect(findCursor('/cdi/integrations', BASE)).toBeUndefined();
  });
});
