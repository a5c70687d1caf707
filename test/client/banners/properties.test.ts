import { expect, test } from 'vitest';
import { invalidProperties } from '../../../src/client/banners/sync-response.ts';
import {
  getBooleanProperty,
  getDatetimeProperty,
  getImageProperty,
  getJsonProperty,
  getNumberProperty,
  getStringProperty,
} from '../../../src/client/index.ts';
import { buildBanner } from '../../helpers/a-banner.ts';

const banner = buildBanner({
  properties: {
    text: { type: 'string', value: 'Hi' },
    count: { type: 'number', value: 0 },
    sticky: { type: 'boolean', value: false },
    art: { type: 'image', value: 'https://cdn.example.com/a.png' },
    layout: { type: 'jsonobject', value: { cols: 2 } },
    starts: { type: 'datetime', value: 1_790_208_000_000 },
    list: { type: 'jsonobject', value: [1] },
    wrong: { type: 'number', value: '7' },
    nothing: { type: 'jsonobject', value: null },
    future: { type: 'video', value: 'https://cdn.example.com/a.mp4' },
  },
});

test('contract 7.7: each getter returns the value of its own type', () => {
  expect(getStringProperty(banner, 'text')).toBe('Hi');
  expect(getNumberProperty(banner, 'count')).toBe(0);
  expect(getBooleanProperty(banner, 'sticky')).toBe(false);
  expect(getImageProperty(banner, 'art')).toBe('https://cdn.example.com/a.png');
  expect(getJsonProperty(banner, 'layout')).toEqual({ cols: 2 });
  expect(getDatetimeProperty(banner, 'starts')).toBe(1_790_208_000_000);
});

test('contract 7.7: returns null for a missing key or another type', () => {
  expect(getStringProperty(banner, 'missing')).toBeNull();
  expect(getStringProperty(banner, 'art')).toBeNull();
  expect(getNumberProperty(banner, 'starts')).toBeNull();
  expect(getStringProperty(banner, 'toString')).toBeNull();
  expect(getStringProperty(banner, '__proto__')).toBeNull();
});

test('case 59: returns null for a value of the wrong JSON type', () => {
  expect(getNumberProperty(banner, 'wrong')).toBeNull();
  expect(getJsonProperty(banner, 'list')).toBeNull();
  expect(getJsonProperty(banner, 'nothing')).toBeNull();
});

test('case 59: lists unknown types and invalid values for the diagnostic', () => {
  expect(invalidProperties(banner)).toEqual(['list', 'wrong', 'nothing', 'future']);
});

test('case 59: treats a type with the name of an Object.prototype member as unknown', () => {
  const odd = buildBanner({ properties: { a: { type: 'constructor', value: 1 } } });
  expect(invalidProperties(odd)).toEqual(['a']);
});

test('returns null for exactly the properties that it lists as invalid', () => {
  const getters = {
    string: getStringProperty,
    number: getNumberProperty,
    boolean: getBooleanProperty,
    image: getImageProperty,
    jsonobject: getJsonProperty,
    datetime: getDatetimeProperty,
  };
  const values = ['text', '', 0, 1.5, true, false, null, undefined, [], [1], {}, { a: 1 }];
  for (const [type, read] of Object.entries(getters)) {
    for (const value of values) {
      const odd = buildBanner({ properties: { a: { type, value } } as never });
      expect([type, value, read(odd, 'a') === null]).toEqual([
        type,
        value,
        invalidProperties(odd).length > 0,
      ]);
    }
  }
});
