import * as z from 'zod';
import { MAX_LANGUAGES } from '../../protocol/index.ts';
import {
  type Campaign,
  createCheckBudget,
  type LocatedIssue,
  personaProfile,
  previewVariant,
  readCampaign,
  type Workspace,
} from '../../service/index.ts';
import { TEMPLATE_CATALOGUE, TEMPLATE_PROPERTIES, type TemplateProperty } from '../../templates/index.ts';
import { type CampaignJson, toCampaignJson } from '../campaign/campaign-json.ts';
import { getFieldLabel } from '../campaign/describe-fields.ts';
import { languageName, missingIn, otherLanguages, TOO_MANY_LANGUAGES } from '../campaign/translations.ts';
import { getUrlError, getUrlWarning } from '../campaign/url-problem.ts';
import { describeIssue } from './describe-issue.ts';

/** Problem found in a draft. An `error` blocks publishing; a `warning` needs confirmation. */
export interface DraftCheck {
  severity: 'error' | 'warning';
  /** Path in the campaign, for example `['variants', 0, 'properties', 'headline']`. */
  path: (string | number)[];
  message: string;
}

type AddCheck = (severity: DraftCheck['severity'], path: DraftCheck['path'], message: string) => void;

const getPropertyNames = (isWanted: (property: TemplateProperty) => unknown): readonly string[] =>
  TEMPLATE_PROPERTIES.filter(isWanted).map(({ name }) => name);

const TEXTS = getPropertyNames(({ isPersonal }) => isPersonal);

const textIn = (properties: Written['variants'][number]['properties'], name: string): string => {
  const value = properties[name]?.value;
  return typeof value === 'string' ? value.trim() : '';
};

/** Checks the rendered variants for a new user, each persona and each language. */
const checkRendered = (
  campaign: Campaign,
  { variants }: Written,
  { workspace, nowMs }: { workspace: Workspace; nowMs: number },
  addCheck: AddCheck,
) => {
  const users = [
    { name: 'new users', profile: null, language: undefined },
    ...workspace.studio.personas.map((persona) => ({
      name: persona.name,
      profile: personaProfile(persona, nowMs),
      language: undefined,
    })),
    ...campaign.languages.map((language) => ({
      name: `users of ${languageName(language)}`,
      profile: null,
      language,
    })),
  ];
  const nextBudget = createCheckBudget();
  for (const [index, { variantId }] of campaign.variants.entries()) {
    for (const { name, profile, language } of users) {
      const budget = nextBudget();
      if (budget === null) {
        addCheck('error', ['variants'], 'The texts take too long to render. Shorten some.');
        return;
      }
      const shown = previewVariant({
        workspace,
        campaign,
        variantId,
        externalId: 'persona',
        profile,
        language,
        nowMs,
        budget,
      });
      if (!shown) continue;
      if ('failedProperty' in shown) {
        const path = ['variants', index, 'properties', shown.failedProperty];
        addCheck(
          'error',
          path,
          `${getFieldLabel(shown.failedProperty)} cannot be rendered for ${name}: ${shown.reason}.`,
        );
        break;
      }
      const texts = TEXTS.map((each) => ({ each, value: shown.properties[each]?.value }));
      const blank = texts.find(({ value }) => typeof value === 'string' && value.trim() === '');
      // Ignores a text that is omitted on purpose, for example in a banner that has only an image.
      const isWritten = blank && textIn(variants[index]!.properties, blank.each) !== '';
      if (blank && isWritten && blank.each !== 'body') {
        const path = ['variants', index, 'properties', blank.each];
        addCheck('warning', path, `${getFieldLabel(blank.each)} is empty for ${name}.`);
        break;
      }
    }
  }
};

const MARKUP = /\{\{|\{%/;

/** Parts of a campaign that can be checked even if the rest is invalid. */
const written = z.object({
  variants: z.array(
    z.object({ properties: z.record(z.string(), z.object({ type: z.unknown(), value: z.unknown() })) }),
  ),
});
type Written = z.infer<typeof written>;

/** Template properties that hold URLs. */
const LINKS = getPropertyNames(({ input }) => input === 'link');
const IMAGES = getPropertyNames(({ input }) => input === 'image');

const checkAddress = (
  use: 'link' | 'image',
  value: unknown,
  path: DraftCheck['path'],
  addCheck: AddCheck,
) => {
  if (typeof value !== 'string' || MARKUP.test(value) || value.trim() === '') return;
  const refused = getUrlError(value, use);
  const odd = refused ? null : getUrlWarning(value);
  if (refused) addCheck('error', path, refused);
  if (odd) addCheck('warning', path, odd);
};

/** Pairs of button text and link. */
const BUTTONS = [
  ['button_text', 'link'],
  ['secondary_button_text', 'secondary_link'],
] as const;

const checkVariant = (
  { properties }: Written['variants'][number],
  index: number,
  nowMs: number,
  addCheck: AddCheck,
) => {
  const at = (name: string) => ['variants', index, 'properties', name];
  const getText = (name: string) => textIn(properties, name);
  if (['headline', 'body', 'image'].every((name) => getText(name) === '')) {
    addCheck('error', at('headline'), 'Add a headline, a body or an image. Without one nothing is shown.');
  } else if (getText('headline') === '' && getText('body') !== '') {
    addCheck('warning', at('headline'), 'There is no headline.');
  }
  if (getText('image') !== '' && getText('image_alt') === '') {
    const alone = getText('headline') === '' && getText('body') === '';
    const message = 'Screen readers skip this image. Leave it empty only for decoration.';
    addCheck(alone ? 'error' : 'warning', at('image_alt'), message);
  }
  for (const [button, link] of BUTTONS) {
    if (getText(button) !== '' && getText(link) === '')
      addCheck('warning', at(link), `${getFieldLabel(button)} is not shown without a link.`);
  }
  for (const [name, { type, value }] of Object.entries(properties)) {
    if (type === 'datetime' && Date.parse(String(value)) <= nowMs) {
      addCheck('warning', at(name), 'This date is in the past.');
    }
    if (LINKS.includes(name)) checkAddress('link', value, at(name), addCheck);
    if (IMAGES.includes(name)) checkAddress('image', value, at(name), addCheck);
    const { most } = TEMPLATE_PROPERTIES.find((each) => each.name === name) ?? {};
    const length = typeof value === 'string' ? Array.from(value).length : 0;
    if (most && !MARKUP.test(String(value)) && length > most) {
      addCheck('warning', at(name), `${length} characters: only the first ${most} are shown.`);
    }
  }
};

/** Properties with text for users, by template. */
const READ_TEXTS = getPropertyNames(({ translation }) => translation === 'needed');
const EXAMPLES = new Set(
  TEMPLATE_CATALOGUE.flatMap(({ starters }) => starters)
    .map(({ properties }) => properties(0))
    .flatMap(({ headline, body }) => [headline?.value, body?.value]),
);

/** Adds warnings for texts that the template of a placement does not render, and for unchanged example texts. */
const checkTexts = (campaign: Campaign, { variants }: Written, workspace: Workspace, addCheck: AddCheck) => {
  const placements = (workspace.placements ?? []).flatMap(({ placementId, name, template }) => {
    const entry = TEMPLATE_CATALOGUE.find((each) => each.name === template);
    return entry && campaign.placements.has(placementId) ? [{ name, properties: entry.properties }] : [];
  });
  for (const [index, { properties }] of variants.entries()) {
    for (const name of READ_TEXTS) {
      const written = textIn(properties, name);
      if (written === '') continue;
      const path = ['variants', index, 'properties', name];
      const without = placements.filter((each) => each.properties.every((own) => own.name !== name));
      if (without.length > 0) {
        const where = without.map((each) => each.name).join(', ');
        addCheck('warning', path, `Not shown in ${where}: the template does not render it.`);
      }
      if (EXAMPLES.has(written)) addCheck('warning', path, 'This is the example text.');
    }
  }
};

interface RulesContext {
  /** Live version; `undefined` if none. */
  live: Campaign | undefined;
  /** Whether the campaign has a target sample size. */
  isPlanned: boolean;
  nowMs: number;
}

const checkRules = (campaign: Campaign, { live, isPlanned, nowMs }: RulesContext, addCheck: AddCheck) => {
  const { placements, endsAtMs, status, controlPercentage, variants } = campaign;
  if (placements.size === 0) addCheck('error', ['placements'], 'Choose at least one placement.');
  if (endsAtMs !== null && endsAtMs <= nowMs && status === 'active') {
    addCheck('warning', ['ends_at'], 'The end is in the past.');
  }
  // Applies only to tests, because a single variant without a control group has no comparison.
  const isTest = variants.filter(({ weight }) => weight > 0).length > 1 || controlPercentage > 0;
  if (endsAtMs === null && status === 'active' && isTest && !isPlanned) {
    addCheck(
      'warning',
      ['ends_at'],
      'Set an end or a target sample size. Results name no winner without one.',
    );
  }
  if (status === 'draft') addCheck('warning', ['status'], 'Shown to test users only.');
  if (status === 'stopped') addCheck('warning', ['status'], 'Stopped campaigns are not shown.');
  if (controlPercentage === 100)
    addCheck('warning', ['control_percentage'], 'Everyone is in the control group.');
  for (const [index, { variantId, weight }] of variants.entries()) {
    // Variants of an ended test keep a share of 0.
    const isKnown = live?.variants.some((each) => each.variantId === variantId && each.weight === 0);
    if (weight === 0 && !isKnown)
      addCheck('warning', ['variants', index, 'weight'], 'Its share is 0%: no user gets this variant.');
  }
};

const checkDefaults = ({ variants }: Campaign, addCheck: AddCheck) => {
  for (const [index, { withoutDefault }] of variants.entries()) {
    for (const { property, variable, language } of withoutDefault) {
      // URLs may stay untranslated, texts may not.
      if ([...LINKS, ...IMAGES].includes(property)) continue;
      const message = `${getFieldLabel(property)} is incomplete for users without ${variable}. Add a default, such as {{${variable} | default: 'there'}}.`;
      const where = language === null ? ['properties', property] : ['translations', language, property];
      addCheck('warning', ['variants', index, ...where], message);
    }
  }
};

/** Maximum checks in a response, because operators do not read more at once. */
const MAX_CHECKS = 100;

/** Adds warnings for texts that users of another language would get in the campaign's own language. */
const checkTranslations = (campaign: CampaignJson, addCheck: AddCheck) => {
  const languages = otherLanguages(campaign);
  if (languages.length > MAX_LANGUAGES) {
    addCheck('error', ['language'], TOO_MANY_LANGUAGES);
    return;
  }
  let told = 0;
  for (const language of languages) {
    if (told >= MAX_CHECKS) return;
    const byVariant = Map.groupBy(missingIn(campaign, language), ({ variantIndex }) => variantIndex);
    for (const [index, missing] of byVariant) {
      const names = missing.map(({ name }) => getFieldLabel(name)).join(', ');
      const own = languageName(campaign.language ?? 'en');
      const path = ['variants', index, 'translations', language, missing[0]!.name];
      told += 1;
      addCheck('warning', path, `${languageName(language)} lacks ${names}: users get ${own} there.`);
    }
  }
};

/** Returns all checks of a draft: errors that the API would reject, then warnings. */
export const checkDraft = (content: unknown, workspace: Workspace, nowMs: number): DraftCheck[] => {
  const checks: Record<'error' | 'warning', DraftCheck[]> = { error: [], warning: [] };
  const seen = new Set<string>();
  const addCheck: AddCheck = (severity, path, message) => {
    // Reports a problem only once if both a property and its rendered text have it.
    const key = JSON.stringify(path);
    if (seen.has(key)) return;
    seen.add(key);
    checks[severity].push({ severity, path, message });
  };
  const placementIds = workspace.placements && new Set(workspace.placements.map((each) => each.placementId));
  const { campaign, problems, warnings } = readCampaign(content, {
    placementIds,
    segments: workspace.segments,
  });
  const tellAll = (severity: DraftCheck['severity'], found: readonly LocatedIssue[]) => {
    for (const issue of found) {
      if (checks[severity].length === MAX_CHECKS) return;
      const steps = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
      addCheck(severity, steps, describeIssue(issue));
    }
  };
  tellAll('error', problems);
  // Errors come first, so nothing else would be in the response.
  if (checks.error.length === MAX_CHECKS) return checks.error;
  const { variants } = written.safeParse(content).data ?? { variants: [] };
  for (const [index, variant] of variants.entries()) checkVariant(variant, index, nowMs, addCheck);
  const json = toCampaignJson(content);
  if (campaign && json) {
    tellAll('warning', warnings);
    const live = workspace.campaigns.find(({ campaignId }) => campaignId === campaign.campaignId);
    checkRules(campaign, { live, isPlanned: json.target_sample_size != null, nowMs }, addCheck);
    checkTranslations(json, addCheck);
    checkTexts(campaign, { variants }, workspace, addCheck);
    if (campaign.languages.length <= MAX_LANGUAGES)
      checkRendered(campaign, { variants }, { workspace, nowMs }, addCheck);
    checkDefaults(campaign, addCheck);
  }
  return [...checks.error, ...checks.warning].slice(0, MAX_CHECKS);
};
