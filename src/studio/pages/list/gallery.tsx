import type { PlacementTemplate } from '../../../service/index.ts';
import { TEMPLATE_CATALOGUE } from '../../../templates/index.ts';
import type { CampaignJson, PropertyJson } from '../../campaign/campaign-json.ts';
import { Button } from '../components/controls.tsx';
import { Device } from '../preview/device.tsx';
import { signedIn } from '../shell/session.ts';
import { createCampaign } from './campaign-list.tsx';
import './gallery.css';

/** Starting point of a new campaign. */
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

/** Returns the first placement with this template. */
const drawnBy = (template: PlacementTemplate) =>
  signedIn().workspace.placements?.find((each) => each.template === template);

/** Creates a campaign for the template's placement or, if none, for the first placement. */
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

/** Returns the properties with their Liquid rendered for a new visitor. */
const shown = (properties: Record<string, PropertyJson>): Record<string, PropertyJson> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, { type, value }]) => {
      if (type === 'datetime') return [name, { type, value: Date.parse(String(value)) }];
      const plain = typeof value === 'string' ? value.replace(/\{%.*%\}/, '') : value;
      return [name, { type, value: plain }];
    }),
  );

const getTemplateWidth = (template: PlacementTemplate): number =>
  TEMPLATE_CATALOGUE.find(({ name }) => name === template)!.width;

/** Gallery of starting points, each rendered by its template. */
export const Gallery = () => {
  const scheme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  return (
    <>
      <div class="row apart page-head">
        <h1>Start from a template</h1>
        <Button onClick={() => void createCampaign(campaignFrom(NOTHING))}>Empty message</Button>
      </div>
      <ul class="gallery">
        {starters().map((starter) => (
          <li key={starter.name} class="gallery-card">
            {/* Decorative, because the button's label says the same; `inert` keeps it out of the tab order. */}
            <div aria-hidden="true" inert>
              <Device
                width={getTemplateWidth(starter.template)}
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
              class="stack tight gallery-choice"
              onClick={() => void createCampaign(campaignFrom(starter))}
            >
              <b>{starter.name}</b>
              <span class="gallery-words">{starter.summary}</span>
              {!drawnBy(starter.template) && (
                <span class="gallery-words">
                  None of your placements renders it yet. Ask a developer for the template “{starter.template}
                  ”.
                </span>
              )}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
};
