// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { describe, expect, test } from 'vitest';
import { compileProperty } from '../../../src/service/campaigns/personalise.ts';
import { oddUrl, refusedUrl } from '../../../src/studio/campaign/url-problem.ts';
import { describeLiquidError } from '../../../src/studio/server/describe-issue.ts';

describe('a template error description', () => {
  test.each([
    ['Hi {{${first_name}', 'A {{ does not end. Write }} after it, and close its quotation marks.'],
    ["{{ ${a} | default: 'x }}", 'A {{ does not end. Write }} after it, and close its quotation marks.'],
    ['{% if ${first_name}', 'A {% does not end. Write %} after it, and close its quotation marks.'],
    ['{% if ${tier} %}x', '{% if ${tier} %} does not end. Write {% endif %} where it should.'],
    ['{% fi %}', 'There is no tag “fi”.'],
    ['{% endif %}', '{% endif %} has nothing before it that it could belong to.'],
    ['{{ ${a} | upcas }}', 'There is no filter “upcas”.'],
    ['Hi\n{{ ${a} | upcas }}', 'In line 2: There is no filter “upcas”.'],
    ['{{ ${a} || x }}', 'After a | the name of a filter is missing.'],
    ['{{ ${a} | default "x" }}', "Between a filter and its value a colon is missing, as in default: 'you'."],
    [
      "{% if ${a} = 'x' %}y{% endif %}",
      'Something after a name is not understood. A filter begins with |, “is equal” is ==, a tag ends with %}.',
    ],
    ['{{ }}', 'A name is missing between the braces.'],
    ['{{ “you” }}', '““you”” is neither a name nor a value.'],
    ['{% %}', 'Between {% and %} the name of a tag is missing, such as if.'],
    ['{% for custom_attribute.${a} %}{% endfor %}', '{% for custom_attribute.${a} %} is not complete.'],
    ['{{ a[ }}', 'This cannot be read as a template: [ not closed.'],
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
    [
      'www.example.com/x',
      'This is a path of your own site. For another site write https://www.example.com/x',
    ],
    ['shop.example', 'This is a path of your own site. For another site write https://shop.example'],
    ['me@shop.example', 'A mail address begins with mailto: as in mailto:me@shop.example'],
  ])('warns that %s is a path', (value, hint) => {
    expect(oddUrl(value)).toBe(hint);
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
  ])('has no warning for "%s"', (value) => expect(oddUrl(value)).toBeNull());

  test.each([
    ['javascript:alert(1)', 'link'],
    ['data:text/html,x', 'link'],
    ['java\nscript:alert(1)', 'link'],
    ['data:image/png;base64,x', 'image'],
    ['mailto:me@shop.example', 'image'],
    ['https://', 'link'],
  ] as const)('rejects %j as %s', (address, use) => {
    expect(refusedUrl(address, use)).toMatch(/begins with https/);
  });

  test.each([
    ['/x', 'link'],
    ['https://a.example/x.png', 'image'],
    ['tel:+4930123', 'link'],
  ] as const)('accepts %j as %s', (address, use) => expect(refusedUrl(address, use)).toBeNull());
});
