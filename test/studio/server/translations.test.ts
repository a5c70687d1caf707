// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
// Export and import of translation files.
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

test('exports a CSV with a row per text and a column per language, without cells that a spreadsheet executes', async () => {
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
  test('round-trips Liquid, quotes and line ends', async () => {
    const full = structuredClone(CAMPAIGN) as { variants: { translations: object }[] };
    const texts = {
      headline: 'Hallo {{${first_name} | default: "du"}} <b> & \'c\'',
      body: '=1+1\n"ja"; nein',
    };
    full.variants[0]!.translations = { de: texts, ar: { headline: '{{${first_name}}} أكواب' } };
    const file = await exported(format, 'de', full);
    const { campaign, taken, notes } = await imported(file);
    expect(notes).toEqual([]);
    expect(campaign.variants[0].translations.de).toEqual(texts);
    expect(taken).toBe(format === 'csv' ? 3 : 2);
    expect({ ...campaign, variants: [] }).toEqual({ ...CAMPAIGN, variants: [] });
  });

  test('reports translations of a changed text and of an unknown text', async () => {
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
      '“headline” of “a” was translated from an older text.',
      'No text “gone” in variant “a”: skipped.',
    ]);
  });
});

test('reports a translation without a variable of the text, and one with inline codes', async () => {
  const csv = await imported(
    "variant,property,de,ar\r\na,headline,Hallo {{${first_name} | default: 'du'}},أكواب {{${name}}}\r\n",
  );
  expect(csv.notes).toEqual(['“headline” of “a” lacks ${first_name} in ar.']);
  expect(csv.taken).toBe(2);
  const file = (await exported('xliff1')).replace('<target>Neue', '<target>Neue <x id="1"/>');
  const { notes, taken } = await imported(file);
  expect(notes).toEqual(['“headline” of “a” has inline codes instead of plain text: skipped.']);
  expect(taken).toBe(0);
});

test('parses a spreadsheet’s own separators, and does not remove a text for an empty cell', async () => {
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
  ['variant,property,German\na,headline,b', 'Column "German": expected a language, such as de or pt-BR'],
  ['variant,property,de\na,headline', /^The file cannot be read as CSV: /],
  ['<xliff', 'The file is not XLIFF 1.2 or 2.0'],
  ['<xliff version="1.2">', 'The file is truncated: </xliff> is missing. Export it again.'],
  ['<a/>', 'The file is not XLIFF 1.2 or 2.0'],
  ['<xliff '.repeat(8_500), 'The file is not XLIFF 1.2 or 2.0'],
  ['<xliff version="1.2"><file></xliff>', 'The file cannot be read as XLIFF 1.2 or 2.0'],
  ['<!DOCTYPE x [<!ENTITY a "b">]><xliff/>', 'The file must not have a DOCTYPE'],
])('rejects an unreadable file with a reason: %s', async (file, message) => {
  const { status, body } = await post('import', { campaign: CAMPAIGN, text: file });
  expect(status).toBe(400);
  expect(body.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
});

test.each(['xliff1', 'xliff2'])(
  '%s that is truncated, or of another campaign, is rejected completely',
  async (format) => {
    const file = await exported(format);
    const cut = await post('import', { campaign: CAMPAIGN, text: file.slice(0, file.indexOf('body')) });
    expect([cut.status, cut.body.message]).toEqual([
      400,
      'The file is truncated: </xliff> is missing. Export it again.',
    ]);
    const other = await exported(format, 'de', { ...CAMPAIGN, campaign_id: 'plates' });
    const foreign = await post('import', { campaign: CAMPAIGN, text: other });
    expect([foreign.status, foreign.body.message]).toEqual([422, 'Expected campaign “cups”, got “plates”']);
  },
);

/** The given number of valid language tags. */
const tags = (count: number) => Array.from({ length: count }, (_, at) => `de-x-l${at}`);

test('rejects more than 100 languages from any source', async () => {
  const message = 'A campaign can have at most 100 languages beside its own.';
  const translations = Object.fromEntries(tags(101).map((tag) => [tag, {}]));
  const [variant] = CAMPAIGN['variants'] as Record<string, unknown>[];
  const campaign = { ...CAMPAIGN, variants: [{ ...variant, translations }] };
  const checks = await studio.call('POST', '/api/validation', { body: { campaign }, cookie: ed });
  expect(checks.body.checks).toContainEqual({ severity: 'error', path: ['language'], message });
  for (const format of ['csv', 'xliff1']) {
    expect((await post('export', { campaign, format, language: 'de' })).body.message).toBe(message);
  }
  const rows = `variant,property,${tags(101)}\r\na,headline,${tags(101)}\r\n`;
  expect((await post('import', { campaign: CAMPAIGN, text: rows })).body.message).toBe(message);
});

test('limits the report on many variants in many languages to a hundred lines', async () => {
  const variants = Array.from({ length: 60 }, (_, at) => ({
    variant_id: `v${at}`,
    properties: { headline: text('Cups') },
    ...(at === 0 && { translations: Object.fromEntries(tags(100).map((tag) => [tag, {}])) }),
  }));
  const answer = await studio.call('POST', '/api/validation', {
    body: { campaign: { ...CAMPAIGN, variants } },
    cookie: ed,
  });
  expect([answer.status, answer.body.checks?.length ?? answer.body.message]).toEqual([200, 100]);
});

test('ignores inline codes of a translation tool, and keeps the text', async () => {
  const file = (await exported('xliff1')).replace('Neue Tassen', 'Neue <g id="1">Tassen</g>');
  expect((await imported(file)).campaign.variants[0].translations.de).toEqual({ headline: 'Neue Tassen' });
});

test('warns about missing translations at the first text of a language, without blocking publication', async () => {
  const { body } = await studio.call('POST', '/api/validation', { body: { campaign: CAMPAIGN }, cookie: ed });
  expect(body.checks).toContainEqual({
    severity: 'warning',
    path: ['variants', 0, 'translations', 'de', 'body'],
    message: 'German lacks Body: users get English there.',
  });
  expect(body.checks.map(({ path }: { path: string[] }) => path[3])).toContain('ar');
  expect(body.checks.filter(({ severity }: { severity: string }) => severity === 'error')).toEqual([]);
});

test('renders the preview in the requested language, else in the user’s', async () => {
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
