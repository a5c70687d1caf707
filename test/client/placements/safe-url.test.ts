import { afterEach, expect, test } from 'vitest';
import { safeUrl } from '../../../src/client/index.ts';

test.each([
  'https://example.com/sale?x=1#top',
  'http://example.com',
  '/relative/path',
  'page.html',
  '?query',
  '#anchor',
  '//cdn.example.com/a',
  'mailto:shop@example.com',
  'tel:+49123',
])('accepts the link %s', (url) => {
  expect(safeUrl(url, 'link')).toBe(url);
});

test.each(['https://cdn.example.com/a.png', 'http://cdn.example.com/a.png', '/a.png', 'a.png'])(
  'accepts the image %s',
  (url) => {
    expect(safeUrl(url, 'image')).toBe(url);
  },
);

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  '\u0001javascript:alert(1)',
  'java\nscript:alert(1)',
  'java\tscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  'blob:https://example.com/1',
  'file:///etc/passwd',
  'filesystem:https://example.com/a',
  'view-source:https://example.com',
  'about:blank',
  'intent://scan/#Intent;scheme=zxing;end',
  'https://',
])('case 66: rejects the link %j', (url) => {
  expect(safeUrl(url, 'link')).toBeNull();
});

test.each(['data:image/svg+xml,<svg onload=alert(1)>', 'javascript:alert(1)', 'mailto:a@b.c', 'tel:1'])(
  'case 66: rejects the image %j',
  (url) => {
    expect(safeUrl(url, 'image')).toBeNull();
  },
);

test.each([undefined, null, 7, {}, [], '', '  ', { toString: () => 'https://example.com' }])(
  'rejects a non-string or empty value (%j)',
  (url) => {
    expect(safeUrl(url, 'link')).toBeNull();
  },
);

afterEach(() => document.head.replaceChildren());

const useBase = (href: string) => {
  const base = document.createElement('base');
  base.setAttribute('href', href);
  document.head.append(base);
};

test.each([
  ['/sale', '/sale'],
  ['sale?x=1', '/sale?x=1'],
  ['https://example.com/sale', 'https://example.com/sale'],
  ['mailto:shop@example.com', 'mailto:shop@example.com'],
])("under a <base> of another site %s resolves against the page's own: %s", (url, expected) => {
  useBase('https://cdn.example.com/assets/');
  const own = expected.startsWith('/') ? new URL(expected, location.href).href : expected;
  expect(safeUrl(url, 'link')).toBe(own);
});

test("resolves against a <base> of the page's own site", () => {
  useBase('/de/');
  expect(safeUrl('sale', 'link')).toBe('sale');
});
