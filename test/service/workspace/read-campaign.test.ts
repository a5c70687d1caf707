// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { describe, expect, test } from 'vitest';
import { readCampaign } from '../../../src/service/index.ts';
import { aCampaign, aVariant } from '../../helpers/a-workspace.ts';

const text = (value: string) => ({ headline: { type: 'string', value } });
const placementIds = new Set(['home']);

describe('readCampaign', () => {
  test('takes linear time in the number of variants', () => {
    const variants = Array.from({ length: 40_000 }, (_, at) => aVariant({ variant_id: `v${at}` }));
    const before = process.cpuUsage();
    readCampaign(aCampaign({ variants }), { placementIds });
    const { user, system } = process.cpuUsage(before);
    // Comparing each with each takes over ten times as long.
    expect((user + system) / 1_000).toBeLessThan(2_500);
  });

  test.each([
    [{ variants: [aVariant({ variant_id: '' })] }, 'variants.0.variant_id', 'empty', { got: '""' }],
    [{ variants: [aVariant(), aVariant()] }, 'variants.1.variant_id', 'repeated', { value: 'a' }],
    [{ variants: [aVariant({ weight: 0 })] }, 'variants', 'no_weight', {}],
    [{ placements: ['attic'] }, 'placements.0', 'unknown_placement', { id: 'attic' }],
    [{ audience: { $segment: 'gold' } }, 'audience.$segment', 'unknown_segment', { id: 'gold' }],
    [{ audience: { tier: { $like: 'g' } } }, 'audience.tier.$like', 'unknown_operator', expect.anything()],
    [{ audience: { $or: [] } }, 'audience.$or', 'empty_group', {}],
    [{ audience: { 'a.__proto__': 1 } }, 'audience.a.__proto__', 'reserved_name', {}],
    [{ audience: { 'events.quiz.count': 'many' } }, 'audience.events.quiz.count', 'number_expected', {}],
    [
      { audience: { 'events.quiz.first': 'lately' } },
      'audience.events.quiz.first',
      'date_expected',
      { example: '2026-03-01T00:00:00Z' },
    ],
    [
      { starts_at: '2026-03-02T00:00:00Z', ends_at: '2026-03-01T00:00:00Z' },
      'ends_at',
      'ends_before_start',
      {},
    ],
    [{ language: 'german' }, 'language', 'invalid_language', { got: '"german"' }],
    [
      { language: 'en', variants: [aVariant({ translations: { DE: {} } })] },
      'variants.0.translations.DE',
      'invalid_language',
      { got: '"DE"' },
    ],
    [
      { language: 'en', variants: [aVariant({ translations: { de: { nothing: 'x' } } })] },
      'variants.0.translations.de.nothing',
      'not_a_text_property',
      {},
    ],
    [
      { variants: [aVariant({ on_click: { attributes: { gender: 'X' } } })] },
      'variants.0.on_click.attributes.gender',
      'invalid_attribute_value',
      { name: 'gender', got: '"X"' },
    ],
    [
      { variants: [aVariant({ properties: text('{{ x | nothing }}') })] },
      'variants.0.properties.headline.value',
      'invalid_template',
      { reason: expect.stringContaining('undefined filter') },
    ],
    [{ surprise: 1 }, 'surprise', 'unknown_field', {}],
  ])('reports the problem of %j by path, code and values', (members, path, code, facts) => {
    const { problems } = readCampaign(aCampaign(members), { placementIds });
    expect(problems.map((problem) => [problem.path.join('.'), problem.code, problem.facts])).toEqual([
      [path, code, facts],
    ]);
  });

  test('warns about an unknown variable, and suggests the closest one', () => {
    const variants = [aVariant({ properties: text('Hi {{${frist_name}}}') })];
    const { warnings } = readCampaign(aCampaign({ variants }), { placementIds });
    expect(warnings).toMatchObject([
      {
        path: ['variants', 0, 'properties', 'headline', 'value'],
        code: 'unknown_variable',
        facts: { variable: '${frist_name}', suggestion: '${first_name}' },
      },
    ]);
  });
});
