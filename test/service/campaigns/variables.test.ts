// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { expect, test } from 'vitest';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { aCampaign, aVariant, aWorkspace } from '../../helpers/a-workspace.ts';

const WHERE = 'campaigns.0.variants.0.properties.text.value';

const getWarnings = (property: Record<string, unknown>) =>
  parseWorkspace(
    aWorkspace({ campaigns: [aCampaign({ variants: [aVariant({ properties: { text: property } })] })] }),
  ).warnings.map(({ path, message }) => {
    expect(path.join('.')).toBe(WHERE);
    return message;
  });
const warnings = (value: string) => getWarnings({ type: 'string', value });

test.each([
  ['{{${frst_name}}}', 'unknown variable ${frst_name}, which prints nothing; did you mean ${first_name}?'],
  ['{{${tier}}}', 'unknown variable ${tier}, which prints nothing'],
  ['{{first_name}}', 'unknown variable first_name, which prints nothing; did you mean ${first_name}?'],
  ['{{event.name}}', 'unknown variable event, which prints nothing'],
  ['{{${first_name} | default: naem}}', 'unknown variable naem, which prints nothing'],
  [
    '{{targeted_device.${platfrom}}}',
    'unknown variable targeted_device.${platfrom}, which prints nothing; did you mean targeted_device.${platform}?',
  ],
  [
    "{% if ${counrty} == 'PL' %}Hej{% endif %}",
    'unknown variable ${counrty}, which prints nothing; did you mean ${country}?',
  ],
])('warns about %s', (template, warning) => {
  expect(warnings(template)).toEqual([warning]);
});

test.each([
  "{{${first_name} | default: 'you'}}",
  '{{${email_address}}} {{${date_of_birth}}} {{${city}}} {{${user_id}}} {{${current_location}}}',
  '{{custom_attribute.${anything at all}}}',
  '{{targeted_device.${id}}} {{targeted_device.${platform}}}',
  '{% assign tier = custom_attribute.${tier} %}{{tier}}{% capture all %}x{% endcapture %}{{all}}',
  '{% for item in custom_attribute.${list} %}{{item.name}} {{forloop.index}}{% endfor %}',
  'no template',
])('does not warn about %s', (template) => {
  expect(warnings(template)).toEqual([]);
});

test('reports a variable once per text, at any depth of an object', () => {
  const value = { deep: ['{{${frst_name}}} {{${frst_name}}}', { deeper: '{{${tier}}}' }] };
  expect(getWarnings({ type: 'jsonobject', value })).toEqual([
    'unknown variable ${frst_name}, which prints nothing; did you mean ${first_name}?',
    'unknown variable ${tier}, which prints nothing',
  ]);
});

test('reports a render error as a problem, not as a variable', () => {
  expect(() => warnings('{{${frst_name} | shout}}')).toThrow(/undefined filter: shout/);
});
