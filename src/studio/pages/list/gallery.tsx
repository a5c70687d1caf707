import type { PlacementTemplate } from '../../../service/index.ts';
import { TEMPLATE_CATALOGUE } from '../../../templates/index.ts';
import type { CampaignJson, PropertyJson } from '../../campaign/campaign-json.ts';
import { Button } from '../components/controls.tsx';
import { Device } from '../preview/device.tsx';
import { signedIn } from '../shell/session.ts';
import { createCampaign } from './campaign-list.tsx';
import './gallery.css';

/** A message to begin from. */
interface Starter {
  name: string;
  summary: string;
  template: PlacementTemplate;
  properties: Record<string, PropertyJson>;
}

const starters = (): Starter[] =>
  TEMPLATE_CATALOGUE.flatMap(({ name: template, starters }) =>
    starters.map(({ name, summary, properties }) => ({
      name,
      summary,
      template,
      properties: properties(Date.now()),
    })),
  );

/** The first placement that a template draws. */
const drawnBy = (template: PlacementTemplate) =>
  signedIn().workspace.placements?.find((each) => each.template === template);

/** For the placement that its template draws, else for the first of all. */
const campaignFrom = ({ name, template, properties }: Starter): Omit<CampaignJson, 'campaign_id'> => {
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
  summary: '',
  template: 'hero',
  properties: { headline: { type: 'string', value: '' } },
};

/** Liquid as a reader of whom nothing is known gets it. */
const shown = (properties: Record<string, PropertyJson>): Record<string, PropertyJson> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, { type, value }]) => {
      if (type === 'datetime') return [name, { type, value: Date.parse(String(value)) }];
      const plain = typeof value === 'string' ? value.replace(/\{%.*%\}/, '') : value;
      return [name, { type, value: plain }];
    }),
  );

const widthOf = (template: PlacementTemplate): number =>
  TEMPLATE_CATALOGUE.find(({ name }) => name === template)!.width;

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
            {/* The image says nothing that the button's words do not, and is no page to go through. */}
            <div aria-hidden="true" inert>
              <Device
                width={widthOf(starter.template)}
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
              <span class="gallery-words">{starter.summary}</span>
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
