// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { describe, expect, test } from 'vitest';
import { isolateMarkup, shownOffset, withoutIsolates } from '../../../src/studio/campaign/isolate-markup.ts';

const ARABIC = "أهلاً {{${first_name} | default: 'بك'}} اليوم";

describe('Liquid in right-to-left text', () => {
  test('is isolated, so that its braces stay in place', () => {
    expect(isolateMarkup(ARABIC)).toBe("أهلاً \u2066{{${first_name} | default: 'بك'}}\u2069 اليوم");
  });

  test('is unchanged once the isolates are removed', () => {
    expect(withoutIsolates(isolateMarkup(ARABIC))).toBe(ARABIC);
  });

  test('is unchanged in left-to-right text', () => {
    expect(isolateMarkup('Hi {{${first_name}}}')).toBe('Hi {{${first_name}}}');
  });

  test('keeps the caret at its letter', () => {
    const shown = isolateMarkup(ARABIC);
    for (const [at, letter] of [...ARABIC].entries()) {
      expect(shown[shownOffset(shown, at)]).toBe(letter);
    }
    expect(shownOffset(shown, ARABIC.length)).toBe(shown.length);
  });
});
