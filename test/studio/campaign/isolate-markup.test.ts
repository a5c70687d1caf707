// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { describe, expect, test } from 'vitest';
import { isolateMarkup, shownOffset, withoutIsolates } from '../../../src/studio/campaign/isolate-markup.ts';

const ARABIC = "أهلاً {{${first_name} | default: 'بك'}} اليوم";

describe('Liquid in a text from right to left', () => {
  test('is isolated, so that its braces stay where they were typed', () => {
    expect(isolateMarkup(ARABIC)).toBe("أهلاً \u2066{{${first_name} | default: 'بك'}}\u2069 اليوم");
  });

  test('is the same text again without the isolates', () => {
    expect(withoutIsolates(isolateMarkup(ARABIC))).toBe(ARABIC);
  });

  test('is left alone in a text from left to right', () => {
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
