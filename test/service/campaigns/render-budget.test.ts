import { describe, expect, test } from 'vitest';
import { compile, render } from '../../../src/service/campaigns/liquid.ts';
import { createBudget } from '../../../src/service/campaigns/render-budget.ts';
import { OverBudgetError } from '../../../src/service/campaigns/render-errors.ts';

const loop = (body: string, bounds = '(1..200)') => `{% for i in ${bounds} %}${body}{% endfor %}`;
const captured = (name: string, text: string) => `{% capture ${name} %}${text}{% endcapture %}`;
/** A list that contains itself three times, nested 60 deep. Its output would have 3 ** 60 characters. */
const grown = '{% assign a = a | push: a | push: a %}';
const nested = `{% assign a = 'x,y' | split: ',' %}${grown.repeat(60)}`;

const printed = (template: string, scope: Record<string, unknown> = {}) => {
  const budget = createBudget();
  return render(compile(template), scope, budget);
};

describe('an expensive template is stopped after the same number of steps on every machine', () => {
  test.each([
    ['one long loop', loop('x', '(1..100000000)')],
    ['loops in loops', loop(loop(loop('{% if i == 0 %}x{% endif %}')))],
    ['loops that end at once', loop(loop('{% break %}', '(1..9000)'))],
    ['a string that doubles', `{% assign s = 'xx' %}${loop('{% assign s = s | append: s %}')}`],
    ['a capture that doubles', captured('s', 'xxxxxxxx') + captured('s', '{{s}}{{s}}{{s}}').repeat(30)],
    ['a list in itself, printed', `${nested}{{ a }}`],
    ['a list in itself, joined', `${nested}{{ a | join: '-' }}`],
    ['a list in itself, as JSON', `${nested}{{ a | json }}`],
    ['a list in itself, compared', `${nested}${nested.replaceAll(' a ', ' b ')}{% if a == b %}x{% endif %}`],
    ['a list in itself, sorted', `${nested}{% assign b = a | push: 'x' | sort %}`],
    ['a list in itself, added up', `${nested}{{ a | sum }}`],
    [
      'a search that restarts at each character',
      captured('a', 'a'.repeat(9_000)) +
        captured('b', `${'a'.repeat(4_000)}b`) +
        loop('{% if a contains b %}{% endif %}'),
    ],
    [
      'the same in a filter',
      captured('a', 'a'.repeat(9_000)) +
        captured('b', `${'a'.repeat(4_000)}b`) +
        loop("{% assign c = a | replace: b, '' %}"),
    ],
    ['dates', loop(`{{ '2026-03-01' | date: '${'%B'.repeat(100)}' }}`)],
    ['a wide date', "{{ '2026-03-01' | date: '%100000000d' }}"],
    ['a long cycle', loop(`{% cycle ${'1,'.repeat(9_000)}1 %}`)],
    ['many branches', loop(`{% if false %}${'{% elsif false %}'.repeat(1_000)}{% endif %}`)],
    ['many cases', loop(`{% case 5 %}{% when ${'1,'.repeat(5_000)}2 %}{% endcase %}`)],
    ['thousands of outputs', '{{a}}'.repeat(2_600)],
    ['a computed size', loop('{% if u.size == 1 %}{% endif %}')],
    ['a large object in a loop', loop('{% for m in u limit: 1 %}{% endfor %}')],
  ])('%s', (_, template) => {
    const u = Object.fromEntries(Array.from({ length: 5_000 }, (_each, index) => [`m${index}`, index]));
    expect(() => printed(template, { u })).toThrow(OverBudgetError);
  });

  test('a range of unsafe integers is finite', () => {
    expect(printed(loop('x', '(9007199254740992..9007199254740993)'))).toBe('x');
    expect(printed(loop('x', '(a..b)'), { a: 1e300, b: 1e308 })).toBe('x');
  });

  test.each([
    ['three hundred names', '{{ u.name }}'.repeat(300)],
    [
      'a loop over the longest list of an attribute',
      loop('{{ i }}, {% if i == 3 %}x{% endif %}', '(1..500)'),
    ],
    ['an attribute of the largest size', '{{ u.text }}'],
    ['a sorted list', "{{ u.list | sort | uniq | reverse | join: ', ' }}"],
    ['a date', "{{ '2026-03-01T09:00:00Z' | date: '%A, %d %B %Y, %H:%M' }}"],
  ])('an ordinary template is not stopped: %s', (_, template) => {
    const text = 'x'.repeat(90_000);
    const list = Array.from({ length: 500 }, (_each, index) => `entry ${index}`);
    expect(printed(template, { u: { name: 'Kim', text, list } })).not.toBe('');
  });
});

describe('parsing a template takes linear time', () => {
  // Each took from two seconds to a minute with 100,000 characters. The limit is far above the current time.
  test.each([
    ['unterminated names', '{{${'.repeat(10_000)],
    ['unterminated outputs', '{{'.repeat(20_000)],
    ['many outputs', '{{a}}'.repeat(8_000)],
    ['many other names', Array.from({ length: 4_000 }, (_, index) => `{{a${index}}}`).join('')],
    ['a long condition', `{% if a${' or a'.repeat(7_000)} %}{% endif %}`],
    ['a long name', `{{ ${'a'.repeat(39_000)} }}`],
    ['quotation marks', '{{ "'.repeat(10_000)],
    ['lines of a liquid tag', `{% liquid ${'echo a\n'.repeat(5_000)}%}`],
    ['tags in tags', '{% if a %}'.repeat(2_000) + '{% endif %}'.repeat(2_000)],
  ])('%s', (_, template) => {
    const before = process.cpuUsage();
    try {
      compile(template);
    } catch (error) {
      expect((error as Error).message).toMatch(/not closed|call stack/);
    }
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(1_500);
  });
});
