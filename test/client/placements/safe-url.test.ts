import { expect, test } from 'vitest';
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
])('a link may be %s', (url) => {
  expect(safeUrl(url, 'link')).toBe(url);
});

test.each(['https://cdn.example.com/a.png', 'http://cdn.example.com/a.png', '/a.png', 'a.png'])(
  'an image may be %s',
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
])('case 66: a link may not be %j', (url) => {
  expect(safeUrl(url, 'link')).toBeNull();
});

test.each(['data:image/svg+xml,<svg onload=alert(1)>', 'javascript:alert(1)', 'mailto:a@b.c', 'tel:1'])(
  'case 66: an image may not be %j',
  (url) => {
    expect(safeUrl(url, 'image')).toBeNull();
  },
);

test.each([undefined, null, 7, {}, [], '', '  ', { toString: () => 'https://example.com' }])(
  'what is no text (%j) is no URL',
  (url) => {
    expect(safeUrl(url, 'link')).toBeNull();
  },
);
