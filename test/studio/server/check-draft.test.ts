// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { describe, expect, test } from 'vitest';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { checkDraft } from '../../../src/studio/server/check-draft.ts';
import { aCampaign, aVariant } from '../../helpers/a-workspace.ts';
import { aStudioWorkspace } from '../../helpers/running-studio.ts';

const NOW = Date.parse('2026-03-02T09:00:00Z');
const workspace = parseWorkspace(aStudioWorkspace());

const text = (value: string) => ({ type: 'string', value });
const image = (value: string) => ({ type: 'image', value });

/** Validation result of a campaign with an end date that is otherwise valid. */
const validateDraft = (members: Record<string, unknown>) =>
  checkDraft(
    aCampaign({ placements: ['home'], ends_at: '2026-03-09T09:00:00Z', ...members }),
    workspace,
    NOW,
  ).map(({ severity, path, message }) => `${severity} ${path.at(-1)}: ${message}`);
/** Validation result of a variant's properties. */
const propertyChecks = (properties: Record<string, unknown>) =>
  validateDraft({ variants: [aVariant({ properties })] });

test('reports no findings for a valid campaign', () => {
  expect(propertyChecks({ headline: text('Hi') })).toEqual([]);
});

test('reports an incomplete goal that was just added', () => {
  expect(validateDraft({ conversions: [{ event: '', within_hours: 168 }] })).toEqual([
    'error event: Enter a value.',
  ]);
});

test('reports a click that could not set any attribute as an error at its attributes', () => {
  const properties = { headline: text('Hi') };
  const withClick = (attributes: object) =>
    validateDraft({ variants: [aVariant({ properties, on_click: { attributes } })] });
  expect(withClick({ country: 5, tier: 'gold' })).toEqual([
    'error country: Invalid value 5 for country. Enter a value of its type.',
  ]);
  expect(withClick({ country: 'DE' })).toEqual([]);
});

describe('checkDraft of a message', () => {
  test.each([{}, { headline: text('') }, { headline: text('  '), body: text('') }])(
    'reports an error without content to render: %j',
    (properties) => {
      expect(propertyChecks(properties)).toEqual([
        'error headline: Add a headline, a body or an image. Without one nothing is shown.',
      ]);
    },
  );

  test('reports a missing headline', () => {
    expect(propertyChecks({ body: text('Come in') })).toEqual(['warning headline: There is no headline.']);
  });

  test.each(['{{${first_name}}}', "{{${first_name} | default: ''}}", '{% if false %}x{% endif %}'])(
    'warns of a text that is blank for new users: %s',
    (headline) => {
      expect(propertyChecks({ headline: text(headline) })).toEqual([
        'warning headline: Headline is empty for new users.',
      ]);
    },
  );

  test.each([
    ['Hello {{${first_name}}}!', '${first_name}'],
    ['Hello {{ custom_attribute.${nick name} | upcase }}!', 'custom_attribute.${nick name}'],
  ])('warns of a gap for users without a name: %s', (headline, name) => {
    expect(propertyChecks({ headline: text(headline) })).toEqual([
      `warning headline: Headline is incomplete for users without ${name}. Add a default, such as {{${name} | default: 'there'}}.`,
    ]);
  });

  test.each([
    "Hello {{${first_name} | default: 'you'}}!",
    'Hello{% if ${first_name} %} {{${first_name}}}{% endif %}!',
    '{% assign name = ${first_name} | default: "you" %}Hello {{ name }}!',
    'You are {{${user_id}}}',
  ])('reports nothing for a text without a gap: %s', (headline) => {
    expect(propertyChecks({ headline: text(headline) })).toEqual([]);
  });

  test('reports the problem of unterminated Liquid', () => {
    const [check] = propertyChecks({ headline: text('Hi {{${first_name}') });
    expect(check).toBe('error value: Unclosed {{. Add }} and close quotation marks.');
  });

  test('warns of a text longer than its template renders, in user-perceived characters', () => {
    expect(propertyChecks({ headline: text('👋'.repeat(160)) })).toEqual([]);
    expect(propertyChecks({ headline: text('👋'.repeat(161)) })).toEqual([
      'warning headline: 161 characters: only the first 160 are shown.',
    ]);
  });
});

describe('checkDraft of a URL', () => {
  const headline = text('Hi');

  test.each(['javascript:alert(1)', 'data:text/html,x', ' JAVASCRIPT:alert(1)'])(
    'reports an error for a URL that pages reject: %s',
    (link) => {
      expect(propertyChecks({ headline, link: text(link) })).toEqual([
        expect.stringMatching(/^error link: Pages reject this URL\./),
      ]);
    },
  );

  test('reports nothing for a URL with Liquid, which is resolved per user', () => {
    expect(propertyChecks({ headline, link: text('https://shop.example/{{${language}}}') })).toEqual([]);
  });

  test('reports an image without a description, as an error for an image-only message', () => {
    const words = 'image_alt: Screen readers skip this image.';
    const shelf = image('https://shop.example/a.png');
    expect(propertyChecks({ headline, image: shelf })[0]).toContain(`warning ${words}`);
    expect(propertyChecks({ image: shelf })[0]).toContain(`error ${words}`);
  });

  test('reports nothing for an image-only message with an empty headline', () => {
    const alone = {
      headline: text(''),
      image: image('https://shop.example/a.png'),
      image_alt: text('A pot'),
    };
    expect(propertyChecks(alone)).toEqual([]);
  });

  test('warns of a URL copied from a template’s example', () => {
    expect(propertyChecks({ headline: text('Something new is here') })).toEqual([
      'warning headline: This is the example text.',
    ]);
  });

  test('names the placement whose template does not render the URL', () => {
    const properties = { headline, secondary_button_text: text('Later'), secondary_link: text('/later') };
    expect(propertyChecks(properties)).toEqual([
      'warning secondary_button_text: Not shown in Home: the template does not render it.',
    ]);
  });

  test('reports a button without a URL', () => {
    expect(propertyChecks({ headline, button_text: text('Go') })).toEqual([
      'warning link: Button text is not shown without a link.',
    ]);
  });
});

describe('checkDraft of a campaign', () => {
  test.each([
    [{ placements: [] }, 'error placements'],
    [{ ends_at: '2026-03-01T09:00:00Z' }, 'warning ends_at: The end is in the past.'],
    [
      { ends_at: null, control_percentage: 10 },
      'warning ends_at: Set an end or a target sample size. Results name no winner without one.',
    ],
    [{ status: 'draft' }, 'warning status: Shown to test users only.'],
    [{ status: 'stopped' }, 'warning status: Stopped campaigns are not shown.'],
    [{ control_percentage: 100 }, 'warning control_percentage: Everyone is in the control group.'],
    [{ starts_at: 'tomorrow' }, 'error starts_at'],
    [{ audience: { tier: { $matches: 'x' } } }, 'error'],
  ])('reports for %j: %s', (members, words) => {
    expect(validateDraft(members)[0]).toContain(words);
  });

  test('warns of a missing end only for a test without a target sample size', () => {
    const about = (members: Record<string, unknown>) =>
      validateDraft({ ends_at: null, ...members }).filter((words) => words.includes('ends_at'));
    expect([about({}), about({ control_percentage: 10, target_sample_size: 500 })]).toEqual([[], []]);
    expect(about({ control_percentage: 10 })).toHaveLength(1);
  });

  test('warns of a share of 0% unless the live version has it, as after the end of a test', () => {
    const variants = [
      aVariant({ variant_id: 'a', weight: 0, properties: { headline: text('Hi') } }),
      aVariant({ variant_id: 'b', properties: { headline: text('Hello') } }),
    ];
    expect(validateDraft({ ends_at: null, variants })).toEqual([
      'warning weight: Its share is 0%: no user gets this variant.',
    ]);
    const ended = aCampaign({ placements: ['home'], variants });
    expect(checkDraft(ended, parseWorkspace(aStudioWorkspace({ campaigns: [ended] })), NOW)).toEqual([]);
  });

  test('warns of a second button without a link, and of a date in the past', () => {
    const properties = {
      headline: text('Doors'),
      secondary_button_text: text('Later'),
      ends_at: { type: 'datetime', value: '2020-01-01T00:00:00Z' },
    };
    const found = validateDraft({ variants: [aVariant({ properties })] }).join('\n');
    expect(found).toContain('is not shown without a link.');
    expect(found).toContain('This date is in the past.');
  });

  test('lists at most a hundred findings, errors first', () => {
    const placements = Array.from({ length: 150 }, (_, at) => `p${at}`);
    const checks = validateDraft({ placements, status: 'draft' });
    expect(checks).toHaveLength(100);
    expect(checks.filter((check) => check.startsWith('warning'))).toEqual([]);
  });

  test('lists errors before warnings, and each field once', () => {
    const checks = validateDraft({
      ends_at: null,
      control_percentage: 10,
      variants: [aVariant({ properties: { headline: text('') } })],
    });
    expect(checks.map((check) => check.split(' ')[0])).toEqual(['error', 'warning']);
  });

  test.each([null, [], 'x', {}, { variants: [null] }])(
    'reports an error for invalid content and does not throw: %j',
    (content) => {
      expect(checkDraft(content, workspace, NOW).some(({ severity }) => severity === 'error')).toBe(true);
    },
  );
});

describe('render limits of checkDraft', () => {
  const wild =
    '{% for i in (1..200) %}{% for j in (1..200) %}x{% if i == 0 %}{% endif %}{% endfor %}{% endfor %}';

  test('reports an error that states the fix', () => {
    expect(propertyChecks({ headline: text(wild) })).toEqual([
      'error headline: Headline cannot be rendered for new users: The text takes too long to render: use fewer or shorter loops, lists and repetitions.',
    ]);
  });

  test('stops rendering once the total cost is too high', () => {
    const variants = Array.from({ length: 150 }, (_, index) =>
      aVariant({ variant_id: `v${index}`, properties: { headline: text(wild) } }),
    );
    const checks = validateDraft({ variants });
    expect(checks).toContain('error variants: The texts take too long to render. Shorten some.');
    expect(checks.length).toBeLessThan(10);
  });

  test('does not parse texts that are longer than any campaign needs', () => {
    expect(propertyChecks({ headline: text('{{${first_name}}}'.repeat(2_500)) })).toEqual([
      'error variants: Texts with {{ or {% have 42,500 characters in all variants; the limit is 15,000. Shorten them.',
    ]);
  });
});
