import type { PlacementTemplate } from '../../../service/index.ts';
import type { CampaignText, PropertyText } from '../../campaign/campaign-text.ts';
import { Button } from '../parts/controls.tsx';
import { Device } from '../preview/device.tsx';
import { signedIn } from '../shell/session.ts';
import { createCampaign } from './campaign-list.tsx';
import './gallery.css';

/** A message to begin from. */
interface Starter {
  name: string;
  words: string;
  template: PlacementTemplate;
  properties: Record<string, PropertyText>;
}

const text = (value: string): PropertyText => ({ type: 'string', value });
const DAY_MS = 86_400_000;
/** A whole hour in three days. */
const soon = () => new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 3 * DAY_MS).toISOString();

const starters = (): Starter[] => [
  {
    name: 'Announcement',
    words: 'The large one, at the top of a page.',
    template: 'hero',
    properties: {
      headline: text('Something new is here'),
      body: text('Say in a sentence or two what it is, and for whom.'),
      button_text: text('See what is new'),
      link: text('/'),
    },
  },
  {
    name: 'Offer',
    words: 'A card in the accent colour, beside other things.',
    template: 'card',
    properties: {
      headline: text('15 % off this week'),
      body: text('On everything that is not on sale already.'),
      button_text: text('Use it now'),
      link: text('/'),
      theme: text('accent'),
      dismissible: { type: 'boolean', value: true },
    },
  },
  {
    name: 'Notice',
    words: 'One line across the page, which can be closed.',
    template: 'strip',
    properties: {
      headline: text('We deliver a day later this week'),
      button_text: text('Why'),
      link: text('/'),
      dismissible: { type: 'boolean', value: true },
    },
  },
  {
    name: 'Welcome back',
    words: 'Speaks to a reader by name.',
    template: 'card',
    properties: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
      headline: text("Good to see you{% if ${first_name} %}, {{${first_name} | default: ''}}{% endif %}"),
      body: text('Go on where you left off.'),
      button_text: text('Open my basket'),
      link: text('/'),
      theme: text('dark'),
    },
  },
  {
    name: 'Countdown',
    words: 'Counts down to a moment, and says something else after it.',
    template: 'countdown',
    properties: {
      headline: text('The sale ends soon'),
      countdown_to: { type: 'datetime', value: soon() },
      countdown_end: text('The sale is over'),
      button_text: text('To the sale'),
      link: text('/'),
      theme: text('accent'),
    },
  },
  {
    name: 'Choice',
    words: 'A question with two answers, each a button.',
    template: 'choice',
    properties: {
      headline: text('What brings you here?'),
      button_text: text('I am looking for a present'),
      link: text('/'),
      second_button_text: text('I know what I want'),
      second_link: text('/'),
    },
  },
];

/** The first placement that a template draws. */
const drawnBy = (template: PlacementTemplate) =>
  signedIn().workspace.placements?.find((each) => each.template === template);

/** For the placement that its template draws, else for the first of all. */
const campaignFrom = ({ name, template, properties }: Starter): Omit<CampaignText, 'campaign_id'> => {
  const placement = drawnBy(template) ?? signedIn().workspace.placements?.[0];
  return {
    name,
    status: 'active',
    placements: placement ? [placement.id] : [],
    variants: [{ variant_id: 'a', name: 'A', properties }],
  };
};

const NOTHING: Starter = {
  name: 'New campaign',
  words: '',
  template: 'hero',
  properties: { headline: text('') },
};

/** Liquid as a reader of whom nothing is known gets it. */
const shown = (properties: Record<string, PropertyText>): Record<string, PropertyText> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, { type, value }]) => {
      if (type === 'datetime') return [name, { type, value: Date.parse(String(value)) }];
      const plain = typeof value === 'string' ? value.replace(/\{%.*%\}/, '') : value;
      return [name, { type, value: plain }];
    }),
  );

const WIDTHS: Record<PlacementTemplate, number> = {
  hero: 900,
  strip: 700,
  card: 420,
  countdown: 420,
  choice: 420,
};

/** What to begin a campaign with, each drawn by its own template. */
export const Gallery = () => {
  const scheme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  return (
    <>
      <div class="row apart page-head">
        <h1>Begin with</h1>
        <Button onClick={() => void createCampaign(campaignFrom(NOTHING))}>An empty message</Button>
      </div>
      <ul class="gallery">
        {starters().map((starter) => (
          <li key={starter.name} class="gallery-card">
            {/* The picture says nothing that the button's words do not, and is no page to go through. */}
            <div aria-hidden="true" inert>
              <Device
                width={WIDTHS[starter.template]}
                onDrawn={() => undefined}
                request={{
                  type: 'placard:preview',
                  template: starter.template,
                  properties: shown(starter.properties),
                  scheme,
                  isRightToLeft: false,
                  isLargeText: false,
                  hasLongWords: false,
                  site: null,
                }}
              />
            </div>
            <button
              type="button"
              class="gallery-choice"
              onClick={() => void createCampaign(campaignFrom(starter))}
            >
              <b>{starter.name}</b>
              <span class="gallery-words">{starter.words}</span>
              {!drawnBy(starter.template) && (
                <span class="gallery-words">
                  None of your placements draws it yet: ask a developer for the template “{starter.template}”.
                </span>
              )}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
};
