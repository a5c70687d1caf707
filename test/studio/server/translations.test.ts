// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
// Files for translators, and what they bring back.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aCampaign, aVariant } from '../../helpers/a-workspace.ts';
import { type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

const text = (value: string) => ({ type: 'string', value });
const CAMPAIGN = aCampaign({
  campaign_id: 'cups',
  placements: ['home'],
  language: 'en',
  variants: [
    aVariant({
      properties: {
        link: text('/cups'),
        headline: text('Hi {{${first_name} | default: \'you\'}}, <new> & "old" cups'),
        body: text('-20 %, today;\nand tomorrow'),
        theme: text('dark'),
        columns: { type: 'number', value: 2 },
      },
      translations: { de: { headline: 'Neue Tassen' }, ar: {} },
    }),
  ],
});

let studio: RunningStudio;
let ed: string;
beforeAll(async () => {
  studio = await runStudio();
  ed = await studio.signIn('Ed');
});
afterAll(() => studio.stop());

const post = (path: string, body: unknown) =>
  studio.call('POST', `/api/translations/${path}`, { body, cookie: ed });
const exported = async (format: string, language = 'de', campaign: unknown = CAMPAIGN): Promise<string> =>
  (await post('export', { campaign, format, language })).body.text;
const imported = async (file: string, campaign: unknown = CAMPAIGN) =>
  (await post('import', { campaign, text: file })).body;

test('a CSV has a line for each text, a column for each language, and nothing that a spreadsheet runs', async () => {
  expect(await exported('csv')).toBe(
    [
      '\ufeffvariant,property,en,de,ar',
      'a,headline,"Hi {{${first_name} | default: \'you\'}}, <new> & ""old"" cups",Neue Tassen,',
      'a,body,"\'-20 %, today;\nand tomorrow",,',
      'a,link,/cups,,',
      '',
    ].join('\r\n'),
  );
});

describe.each(['csv', 'xliff1', 'xliff2'])('%s', (format) => {
  test('comes back as it went, Liquid, quotes, line ends and all', async () => {
    const full = structuredClone(CAMPAIGN) as { variants: { translations: object }[] };
    const texts = {
      headline: 'Hallo {{${first_name} | default: "du"}} <b> & \'c\'',
      body: '=1+1\n"ja"; nein',
    };
    full.variants[0]!.translations = { de: texts, ar: { headline: 'أكواب' } };
    const file = await exported(format, 'de', full);
    const { campaign, taken, notes } = await imported(file);
    expect(notes).toEqual([]);
    expect(campaign.variants[0].translations.de).toEqual(texts);
    expect(taken).toBe(format === 'csv' ? 3 : 2);
    expect({ ...campaign, variants: [] }).toEqual({ ...CAMPAIGN, variants: [] });
  });

  test('says what was translated from another text, and what is of no text at all', async () => {
    const file = await exported(format, 'de', {
      ...CAMPAIGN,
      variants: [
        aVariant({
          properties: { headline: text('Old cups'), gone: text('Gone') },
          translations: { de: { headline: 'Alte Tassen', gone: 'Weg' } },
        }),
      ],
    });
    const { campaign, notes } = await imported(file);
    expect(campaign.variants[0].translations.de).toEqual({ headline: 'Alte Tassen' });
    expect(notes).toEqual([
      '“headline” of “a” was translated from another text than it has now.',
      'There is no text “gone” in a variant “a”: passed over.',
    ]);
  });
});

test('a spreadsheet’s own separators are read, and an empty cell takes nothing away', async () => {
  const { campaign, taken } = await imported('variant;property;en;de;pt-BR\r\na;headline;;;Copos\r\n');
  expect(taken).toBe(1);
  expect(campaign.variants[0].translations).toEqual({
    de: { headline: 'Neue Tassen' },
    ar: {},
    'pt-BR': { headline: 'Copos' },
  });
});

test.each([
  ['variant,text\na,b', 'The file has no column "property" in its first line'],
  ['variant,property,German\na,headline,b', 'The column "German" is no language, such as de or pt-BR'],
  ['variant,property,de\na,headline', /^The file cannot be read as CSV: /],
  ['<xliff', 'The file cannot be read as XLIFF 1.2 or 2.0'],
  ['<a/>', 'The file cannot be read as XLIFF 1.2 or 2.0'],
  ['<!DOCTYPE x [<!ENTITY a "b">]><xliff/>', 'The file has a document type, which is not read'],
])('a file that cannot be read is refused with a reason: %s', async (file, message) => {
  const { status, body } = await post('import', { campaign: CAMPAIGN, text: file });
  expect(status).toBe(400);
  expect(body.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
});

test('inline codes of a translator’s tool are passed over, with the text as it was', async () => {
  const file = (await exported('xliff1')).replace('Neue Tassen', 'Neue <g id="1">Tassen</g>');
  expect((await imported(file)).campaign.variants[0].translations.de).toEqual({ headline: 'Neue Tassen' });
});

test('what a language lacks is a warning at its first text, and publishing stays possible', async () => {
  const { body } = await studio.call('POST', '/api/checks', { body: { campaign: CAMPAIGN }, cookie: ed });
  expect(body.checks).toContainEqual({
    severity: 'warning',
    path: ['variants', 0, 'translations', 'de', 'body'],
    words: 'German lacks Body: its readers get English there.',
  });
  expect(body.checks.map(({ path }: { path: string[] }) => path[3])).toContain('ar');
  expect(body.checks.filter(({ severity }: { severity: string }) => severity === 'error')).toEqual([]);
});

test('a preview is in the language that is asked for, else in the person’s', async () => {
  const preview = (more: object) =>
    studio.call('POST', '/api/preview', {
      body: { campaign: CAMPAIGN, variant_id: 'a', person: {}, ...more },
      cookie: ed,
    });
  expect((await preview({ language: 'de' })).body).toMatchObject({
    language: 'de',
    properties: { headline: { value: 'Neue Tassen' } },
  });
  expect((await preview({})).body).toMatchObject({ language: 'en' });
});
