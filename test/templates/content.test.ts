import { describe, expect, test } from 'vitest';
import { readContent } from '../../src/templates/content.ts';
import { TEMPLATE_PROPERTIES } from '../../src/templates/index.ts';
import { getBanner } from '../helpers/template-slot.ts';

const everyUrl = { safeUrl: (url: unknown) => (typeof url === 'string' ? url : null) };
const read = (values: Parameters<typeof getBanner>[0]) =>
  readContent(getBanner({ headline: 'Hi', ...values }), everyUrl, { dismissible: true });

describe('parsing a banner', () => {
  test('parses values of their declared type', () => {
    expect(
      read({ body: 'Text', theme: 'dark', dismissible: false, image: 'https://cdn.example/a.png' }),
    ).toEqual({
      headline: 'Hi',
      body: 'Text',
      buttonText: null,
      link: null,
      linkProperty: 'link',
      second: null,
      image: 'https://cdn.example/a.png',
      imageAlt: '',
      imageDark: null,
      imageWidths: null,
      theme: 'dark',
      dismissible: false,
      dismissText: null,
      language: null,
    });
  });

  test('case 59: omits values of another type, and parses unknown themes as auto', () => {
    const content = read({
      body: { type: 'number', value: 5 },
      button_text: { type: 'string', value: 5 },
      link: { type: 'jsonobject', value: { href: '/x' } },
      dismissible: { type: 'boolean', value: 'no' },
      theme: 'sepia',
    });
    expect(content).toMatchObject({
      body: null,
      buttonText: null,
      link: null,
      dismissible: true,
      theme: 'auto',
    });
  });

  test('parses an image stored as a string', () => {
    expect(read({ image: { type: 'string', value: '/a.png' } }).image).toBe('/a.png');
  });

  test('does not check empty links', () => {
    const asked: unknown[] = [];
    const slot = {
      safeUrl: (url: unknown) => {
        asked.push(url);
        return null;
      },
    };
    readContent(getBanner({ headline: 'Hi', link: '', image: '' }), slot, { dismissible: true });
    expect(asked).toEqual([]);
  });

  test('ignores inherited members', () => {
    const banner = getBanner({ headline: 'Hi' });
    banner.properties = Object.assign(
      Object.create({ body: { type: 'string', value: 'inherited' } }),
      banner.properties,
    );
    expect(readContent(banner, everyUrl, { dismissible: true }).body).toBeNull();
  });

  test('truncates every text at its limit, with an ellipsis', () => {
    for (const { name, most } of TEMPLATE_PROPERTIES) {
      // The countdown has its own parser.
      if (most === undefined || name === 'countdown_ended_text') continue;
      const ending = /_\d$/.exec(name)?.[0] ?? '';
      const banner = getBanner({
        [`body${ending}`]: 'Hi',
        secondary_link: '/',
        [name]: 'x'.repeat(5_000_000),
      });
      const { second, ...content } = readContent(banner, everyUrl, { dismissible: true }, ending);
      const texts = [...Object.values(content), second?.buttonText].filter(
        (value) => typeof value === 'string' && value.startsWith('xx'),
      );
      expect(texts, name).toEqual([`${'x'.repeat(most)}…`]);
    }
  });

  test('does not split a character when it truncates', () => {
    const headline = read({ headline: '👩‍🚀'.repeat(200) }).headline!;
    expect(headline.isWellFormed()).toBe(true);
    expect([...headline]).toHaveLength(161);
  });

  test('treats whitespace-only text as missing', () => {
    expect(read({ body: ' \n\t ' }).body).toBeNull();
    expect(read({ body: `${' '.repeat(5_000)}far away` }).body).toBeNull();
    expect(() => readContent(getBanner({ headline: '   ' }), everyUrl, { dismissible: true })).toThrow(
      'no headline, body or image',
    );
  });
});
