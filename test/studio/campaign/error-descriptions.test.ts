// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { describe, expect, test } from 'vitest';
import { compileProperty } from '../../../src/service/campaigns/personalise.ts';
import { getUrlError, getUrlWarning } from '../../../src/studio/campaign/url-problem.ts';
import { describeLiquidError } from '../../../src/studio/server/describe-issue.ts';

describe('a template error description', () => {
  test.each([
    ['Hi {{${first_name}', 'Unclosed {{. Add }} and close quotation marks.'],
    ["{{ ${a} | default: 'x }}", 'Unclosed {{. Add }} and close quotation marks.'],
    ['{% if ${first_name}', 'Unclosed {%. Add %} and close quotation marks.'],
    ['{% if ${tier} %}x', 'Unclosed {% if ${tier} %}. Add {% endif %}.'],
    ['{% fi %}', 'Unknown tag “fi”.'],
    ['{% endif %}', '{% endif %} has no opening tag.'],
    ['{{ ${a} | upcas }}', 'Unknown filter “upcas”.'],
    ['Hi\n{{ ${a} | upcas }}', 'Line 2: Unknown filter “upcas”.'],
    ['{{ ${a} || x }}', 'Expected a filter name after |.'],
    ['{{ ${a} | default "x" }}', "Expected a colon after the filter name, as in default: 'you'."],
    [
      "{% if ${a} = 'x' %}y{% endif %}",
      'Something after a name is not understood. A filter begins with |, “is equal” is ==, a tag ends with %}.',
    ],
    ['{{ }}', 'Expected a name between the braces.'],
    ['{{ “you” }}', '““you”” is neither a name nor a value.'],
    ['{% %}', 'Expected a tag name after {%, such as if.'],
    ['{% for custom_attribute.${a} %}{% endfor %}', '{% for custom_attribute.${a} %} is incomplete.'],
    ['{{ a[ }}', 'Invalid template: [ not closed.'],
  ])('%s', (value, words) => {
    let message = 'it compiles';
    try {
      compileProperty({ type: 'string', value });
    } catch (error) {
      message = (error as Error).message;
    }
    expect(describeLiquidError(message)).toBe(words);
  });
});

describe('a URL', () => {
  test.each([
    ['www.example.com/x', 'This is a path of your site. For another site, use https://www.example.com/x'],
    ['shop.example', 'This is a path of your site. For another site, use https://shop.example'],
    ['me@shop.example', 'For an email link, use mailto:me@shop.example'],
  ])('warns that %s is a path', (value, hint) => {
    expect(getUrlWarning(value)).toBe(hint);
  });

  test.each([
    'https://example.com',
    '/x',
    '#/x',
    '?x',
    'sale.html',
    'images/a.svg',
    'mailto:me@a.example',
    '',
  ])('does not warn about "%s"', (value) => expect(getUrlWarning(value)).toBeNull());

  test.each([
    ['javascript:alert(1)', 'link'],
    ['data:text/html,x', 'link'],
    ['java\nscript:alert(1)', 'link'],
    ['data:image/png;base64,x', 'image'],
    ['mailto:me@shop.example', 'image'],
    ['https://', 'link'],
  ] as const)('rejects %j as %s', (address, use) => {
    expect(getUrlError(address, use)).toMatch(/[Uu]se https/);
  });

  test.each([
    ['/x', 'link'],
    ['https://a.example/x.png', 'image'],
    ['tel:+4930123', 'link'],
  ] as const)('accepts %j as %s', (address, use) => expect(getUrlError(address, use)).toBeNull());
});
