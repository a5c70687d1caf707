// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { compileProperty, compileSimpleTemplate } from '../../../src/service/campaigns/personalise.ts';
import { createBudget } from '../../../src/service/campaigns/render-budget.ts';
import { personaliseContext } from '../../../src/service/campaigns/variables.ts';
import type { Profile } from '../../../src/service/profiles/profile.ts';
import fc from '../../helpers/property.ts';

const profile: Profile = {
  userId: 771,
  externalId: 'u-771',
  aliases: [],
  email: 'kim@example.org',
  phone: '+48123456789',
  standard: { first_name: 'Kim', home_city: 'Łódź', dob: '1990-05-01', language: 'pl' },
  custom: { tier: 'gold', 'points left': 120, tags: ['a', 'b'], nested: { deep: 'yes' }, link: '?a=1&b=2' },
  subscriptionGroups: {},
  pushTokens: [{ app_id: 'app', token: 't', device_id: 'd-55c1' }],
  onClickHashes: [],
  events: {},
  purchases: {},
  createdAtMs: 0,
  updatedAtMs: 0,
};
const platforms = new Map([['app', 'web']]);
const context = personaliseContext('u-771', profile, 'd-55c1', platforms);
const nobody = personaliseContext('u-772', null, undefined, platforms);

/** A property for one user. A property that is the same for every user is not compiled. */
const compiled = (property: Parameters<typeof compileProperty>[0]) => {
  const fill = compileProperty(property);
  return (of: typeof context) => (fill ? fill(of, createBudget()) : property.value);
};
const text = (value: string, of = context) => compiled({ type: 'string', value })(of);

// Differs from any server's time zone, so that no result may depend on it.
beforeAll(() => void vi.stubEnv('TZ', 'America/New_York'));
afterAll(() => void vi.unstubAllEnvs());

describe('a text property', () => {
  test.each([
    ['plain', 'plain'],
    ['Hi {{${first_name}}}', 'Hi Kim'],
    ["Hi {{${first_name} | default: 'there'}}", 'Hi Kim'],
    ['Hi {{ ${first_name} | upcase }}!', 'Hi KIM!'],
    ['{{custom_attribute.${tier}}}', 'gold'],
    ['{{custom_attribute.${points left} | plus: 5}}', '125'],
    ['{{custom_attribute.${tags} | join: "+"}}', 'a+b'],
    ['{{custom_attribute.${nested}.deep}}', 'yes'],
    ['{{targeted_device.${platform}}} {{targeted_device.${id}}}', 'web d-55c1'],
    [
      '{{${user_id}}} {{${email_address}}} {{${phone_number}}} {{${city}}} {{${date_of_birth}}}',
      'u-771 kim@example.org +48123456789 Łódź 1990-05-01',
    ],
    ["{% if custom_attribute.${tier} == 'gold' %}yes{% else %}no{% endif %}", 'yes'],
    ['{% assign n = custom_attribute.${tags} | size %}{{ n }}', '2'],
    ['{% for tag in custom_attribute.${tags} %}<{{ tag }}>{% endfor %}', '<a><b>'],
    ["{{ '2026-03-01T09:00:00Z' | date: '%Y-%m-%d %H:%M' }}", '2026-03-01 09:00'],
    ['costs ${5} and {braces}', 'costs ${5} and {braces}'],
    ['{{custom_attribute.${unknown}}}', ''],
    ['{{event_properties.${x} | default: "none"}}', 'none'],
  ])('%s renders %s', (template, expected) => {
    expect(text(template)).toBe(expected);
  });

  test.each([
    ['2026-03-10 12:00:00', '2026-03-10T12:00'],
    ['2026-03-10T12:00', '2026-03-10T12:00'],
    ['12/1/2021', '2021-12-01T00:00'],
    ['2026-03-10T12:00:00-04:00', '2026-03-10T16:00'],
  ])('reads %s in UTC without a zone, in any time zone of the service', (renewal, expected) => {
    const of = { ...context, customAttributes: { renewal } };
    expect(text("{{custom_attribute.${renewal} | date: '%Y-%m-%dT%H:%M'}}", of)).toBe(expected);
    expect(text('{{custom_attribute.${renewal} | date_to_xmlschema}}', of)).toBe(`${expected}:00+00:00`);
    expect(text("{{custom_attribute.${renewal} | date: '%H:%M', 60}}", of)).toBe(
      new Date(Date.parse(`${expected}Z`) - 3_600_000).toISOString().slice(11, 16),
    );
    const datetime = compiled({ type: 'datetime', value: '{{custom_attribute.${renewal}}}' });
    expect(datetime(of)).toBe(Date.parse(`${expected}Z`));
  });

  const datetime = (renewal: string) =>
    compiled({ type: 'datetime', value: '{{custom_attribute.${renewal}}}' })({
      ...context,
      customAttributes: { renewal },
    });

  test.each([
    ['March 1, 2026 10:00', '2026-03-01T10:00Z'],
    ['Sunday, March 1, 2026', '2026-03-01T00:00Z'],
    ['Mon Mar 02 10:00:00 2026', '2026-03-02T10:00Z'],
    ['01-Mar-2026', '2026-03-01T00:00Z'],
    ['3/1/2026 10:00 PM', '2026-03-01T22:00Z'],
    ['2026-3-1', '2026-03-01T00:00Z'],
    ['3500-01-01 10:00', '3500-01-01T10:00Z'],
    ['March 1, 2026 10:00 +09:00', '2026-03-01T01:00Z'],
    ['Sun Mar 01 2026 10:00:00 GMT+0100 (CET)', '2026-03-01T09:00Z'],
    ['March 1, 2026 10:00 PM EST', '2026-03-02T03:00Z'],
    ['2026-03-01 10:00:00 UTC', '2026-03-01T10:00Z'],
  ])('reads %s as a datetime, in UTC if it has no zone', (renewal, expected) => {
    expect(datetime(renewal)).toBe(Date.parse(expected));
  });

  test.each(['1,5', 'hello 2026', 'March', 'May 5', '2026-02-30', '2026-02-30 10:00', '1.5.2026'])(
    'does not accept %s as a datetime',
    (renewal) => {
      expect(() => datetime(renewal)).toThrow('is not a date');
    },
  );

  test('uses its default for an unknown user', () => {
    expect(text("Hi {{${first_name} | default: 'there'}}", nobody)).toBe('Hi there');
    expect(text('{{targeted_device.${platform}}}', nobody)).toBe('');
    expect(text('{{${user_id}}}', nobody)).toBe('u-772');
  });

  test('is not escaped, because it is text and not markup', () => {
    expect(text('{{custom_attribute.${link}}}')).toBe('?a=1&b=2');
  });

  test('ignores inherited object members', () => {
    expect(text('{{custom_attribute.${constructor}}}{{custom_attribute.${__proto__}}}{{${toString}}}')).toBe(
      '',
    );
  });

  test('does not treat `size` of a missing value as its length', () => {
    const size = (of: typeof context) =>
      text(
        "{{custom_attribute.${size} | default: 'M' | upcase}}{% if custom_attribute.${size} %}!{% endif %}{{${size}}}{{targeted_device.${size}}}",
        of,
      );
    expect(size(context)).toBe('M');
    expect(size(nobody)).toBe('M');
    const sized = { ...profile, custom: { ...profile.custom, size: 'xl' } };
    expect(size(personaliseContext('u-771', sized, undefined, platforms))).toBe('XL!');
  });

  test('does not evaluate templates in attribute values', () => {
    const custom = { ...profile.custom, tier: '{{${email_address}}}' };
    const tricky = personaliseContext('u-771', { ...profile, custom }, undefined, platforms);
    expect(text('{{custom_attribute.${tier}}}', tricky)).toBe('{{${email_address}}}');
  });
});

describe('a property of another type', () => {
  test('keeps a literal unchanged', () => {
    expect(compiled({ type: 'number', value: 12.5 })(context)).toBe(12.5);
    expect(compiled({ type: 'boolean', value: false })(context)).toBe(false);
    expect(compiled({ type: 'datetime', value: 1790208000000 })(context)).toBe(1790208000000);
  });

  test('converts rendered text to its type, or fails', () => {
    const number = compiled({ type: 'number', value: '{{custom_attribute.${points left}}}' });
    expect(number(context)).toBe(120);
    expect(() => number(nobody)).toThrow('number');
    const boolean = compiled({
      type: 'boolean',
      value: '{% if ${first_name} %}true{% else %}false{% endif %}',
    });
    expect([boolean(context), boolean(nobody)]).toEqual([true, false]);
    const datetime = compiled({ type: 'datetime', value: '{{${date_of_birth}}}T00:00:00Z' });
    expect(datetime(context)).toBe(Date.parse('1990-05-01T00:00:00Z'));
    expect(() => datetime(nobody)).toThrow('date');
  });

  test('fills strings at any depth of an object, except member names', () => {
    const fill = compiled({
      type: 'jsonobject',
      value: {
        'to {{x}}': 'Hi {{${first_name}}}',
        list: ['{{custom_attribute.${tier}}}', 1, null],
        deep: { ok: true },
      },
    });
    expect(fill(context)).toEqual({ 'to {{x}}': 'Hi Kim', list: ['gold', 1, null], deep: { ok: true } });
  });

  test('fills an image URL', () => {
    const fill = compiled({ type: 'image', value: '/i/{{custom_attribute.${tier}}}.png' });
    expect(fill(context)).toBe('/i/gold.png');
  });
});

describe('a template', () => {
  test.each([
    '{{ unclosed',
    '{% if x %}never ended',
    '{{ x | no_such_filter }}',
    '{% connected_content https://example.org %}',
    '{% no_such_tag %}',
  ])('fails to compile if it is invalid: %s', (template) => {
    expect(() => {
      text(template);
    }).toThrow();
  });

  test.each(["{% include '/etc/passwd' %}", "{% render 'package.json' %}", "{% layout 'x' %}"])(
    'does not read files: %s',
    (template) => {
      expect(() => text(template)).toThrow();
    },
  );

  test('replaces a character that a filter splits', () => {
    expect(text("{{ '🎈' | split: '' | first }}")).toBe('\ufffd');
  });
});

describe('the fast path for names', () => {
  const value = fc.oneof(
    fc.constantFrom<unknown>('', ' ', 'Kim', '{{x}}', 0, 1.5, true, false, null, [], ['a'], {}),
    fc.string(),
  );
  const piece = fc.constantFrom(
    'Hi ',
    '}} ',
    '$ {',
    'it\'s "x"',
    '\n',
    '{{${first_name}}}',
    '{{ ${first_name} }}',
    "{{${first_name} | default: 'there'}}",
    '{{ ${missing} | default: "you" }}',
    "{{custom_attribute.${tier} | default: ''}}",
    '{{targeted_device.${platform}}}',
    '{{${toString}}}',
    '{{- ${first_name} -}}',
    '{{${first_name} | upcase}}',
    '{% if ${first_name} %}yes{% endif %}',
    "{{ 'literal' }}",
  );

  test('renders as the library does', () => {
    let quick = 0;
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 5 }),
        value,
        value,
        (pieces, first_name, tier) => {
          const of = { user: { first_name }, customAttributes: { tier }, device: {} };
          const template = pieces.join('');
          const filled = compileSimpleTemplate(template)?.(of) ?? null;
          if (filled === null) return;
          quick += 1;
          // A no-op tag forces the rest through the library.
          expect(text(`{% assign x = 1 %}${template}`, of)).toBe(filled.toWellFormed());
        },
      ),
      { numRuns: 2_000 },
    );
    expect(quick).toBeGreaterThan(500);
  });

  test('leaves all other templates to the library', () => {
    for (const template of [
      '{{${a} | upcase}}',
      '{{-${a}}}',
      '{% if a %}{% endif %}',
      '{{a}}',
      '{ {{${a}}}',
      '{{${a} | default: b}}',
    ]) {
      expect(compileSimpleTemplate(template)).toBeNull();
    }
  });
});
