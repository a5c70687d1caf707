// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { describe, expect, test } from 'vitest';
import { compileProperty } from '../../../src/service/campaigns/personalise.ts';
import { personaliseContext } from '../../../src/service/campaigns/personalise-context.ts';
import { STANDARD_NAMES } from '../../../src/service/users/check-standard.ts';
import { attributeHint, USER_NAMES } from '../../../src/studio/campaign/attribute-hint.ts';
import { liquidWords } from '../../../src/studio/campaign/liquid-words.ts';
import { oddUrl, refusedUrl } from '../../../src/studio/campaign/url-problem.ts';

describe('a template that fails, in plain words', () => {
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
    expect(liquidWords(message)).toBe(words);
  });
});

describe('a hint', () => {
  const own = ['tier', 'orders'];

  test.each([
    'Hi {{${first_name}}}, {{custom_attribute.${tier}}} {{targeted_device.${platform}}}',
    'No ${template} at all',
    '{{custom_attribute.${discount} | default: 30}}',
  ])('is not there for %s', (text) => {
    expect(attributeHint(text, own)).toBeNull();
  });

  test.each([
    [
      'Hi {{${frist_name}}}',
      '“frist_name” is no attribute of a user: nothing is written there but its default. Did you mean ${first_name}?',
    ],
    [
      '{% if ${firstName} %}x{% endif %}',
      '“firstName” is no attribute of a user: nothing is written there but its default. Did you mean ${first_name}?',
    ],
    [
      '{{ ${shoe_color} }}',
      '“shoe_color” is no attribute of a user: nothing is written there but its default.',
    ],
    ['{{ ${tier} }}', '“tier” is an attribute of your own: write custom_attribute.${tier}.'],
    [
      '{{custom_attribute.${teir}}}',
      'No persona here has the attribute “teir”. Did you mean custom_attribute.${tier}?',
    ],
    [
      '{{custom_attributes.${tier}}}',
      '“custom_attributes.” is not known, so nothing is written there. Did you mean custom_attribute.${tier}?',
    ],
    ['{{campaign.${name}}}', '“campaign.” is not known, so nothing is written there.'],
    [
      '{{targeted_device.${os}}}',
      '“os” is no attribute of a device: nothing is written there but its default. Did you mean targeted_device.${platform}?',
    ],
  ])('tells what %s reads that nobody has', (text, hint) => {
    expect(attributeHint(text, own)).toBe(hint);
  });

  test('knows the names that the service knows', () => {
    const { user } = personaliseContext('mira', null, undefined, new Map());
    expect(new Set<string>(USER_NAMES)).toEqual(new Set([...STANDARD_NAMES, ...Object.keys(user)]));
  });

  test.each([
    [
      'www.example.com/x',
      'This is a path of your own site. For another site write https://www.example.com/x',
    ],
    ['shop.example', 'This is a path of your own site. For another site write https://shop.example'],
    ['me@shop.example', 'A mail address begins with mailto: as in mailto:me@shop.example'],
  ])('tells of the address %s that it is a path', (value, hint) => {
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
  ])('has nothing to tell of the address "%s"', (value) => expect(oddUrl(value)).toBeNull());

  test.each([
    ['javascript:alert(1)', 'link'],
    ['data:text/html,x', 'link'],
    ['java\nscript:alert(1)', 'link'],
    ['data:image/png;base64,x', 'image'],
    ['mailto:me@shop.example', 'image'],
    ['https://', 'link'],
  ] as const)('refuses %j as %s', (address, use) => {
    expect(refusedUrl(address, use)).toMatch(/begins with https/);
  });

  test.each([
    ['/x', 'link'],
    ['https://a.example/x.png', 'image'],
    ['tel:+4930123', 'link'],
  ] as const)('takes %j as %s', (address, use) => expect(refusedUrl(address, use)).toBeNull());
});
