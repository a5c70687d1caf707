import { type Banner, INERT_METHODS } from '../../../protocol/index.ts';
import type { PlacementTemplate } from '../../../service/index.ts';
import { TEMPLATE_CATALOGUE, TEMPLATE_PROPERTIES, TEMPLATES } from '../../../templates/index.ts';
import { getUrlError } from '../../campaign/url-problem.ts';
import './frame.css';

/** Message from the editor to the frame. */
export interface FrameRequest {
  type: 'placard:preview';
  template: PlacementTemplate;
  /** `null` if nothing can be rendered. */
  properties: Record<string, { type: string; value: unknown }> | null;
  scheme: 'light' | 'dark';
  isRightToLeft: boolean;
  isLargeText: boolean;
  hasLongWords: boolean;
  /** Base URL of relative images and links; `null` if no site is known. */
  site: string | null;
}

/** Property that pages would drop or clip. */
export interface FrameProblem {
  property: string;
  message: string;
}

/** Message from the frame to the editor when it is ready or has rendered a banner. */
export type FrameReport =
  | { type: 'placard:preview-ready' }
  | {
      type: 'placard:preview-drawn';
      /** Height of the page down to the end of the banner, in CSS pixels. */
      height: number;
      problems: FrameProblem[];
    };

/** Pseudo-localization: 50% longer words. */
const LENGTHEN = /(\p{L}{4,})/gu;
const WORDS: readonly string[] = TEMPLATE_PROPERTIES.filter(({ isPersonal }) => isPersonal).map(
  ({ name }) => name,
);

type Properties = Record<string, { type: string; value: unknown }>;

/** Returns the banner with longer words, to test its layout. */
const longWords = (properties: Properties): Properties =>
  Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const { type, value } = property;
      if (!WORDS.includes(name) || typeof value !== 'string') return [name, property];
      return [
        name,
        {
          type,
          value: value.replace(LENGTHEN, (word) => `${word}${word.slice(0, 4).toLowerCase()}ungsheit`),
        },
      ];
    }),
  );

const element = (className: string, ...children: Node[]): HTMLElement => {
  const made = document.createElement('div');
  made.className = className;
  made.append(...children);
  return made;
};
const lines = (count: number) => Array.from({ length: count }, () => element('line'));

const report = (message: FrameReport) => parent.postMessage(message, location.origin);

/** Slot for the banner in a generic page. */
const slot = element('slot');
const page = element(
  'page',
  element('bar', element('logo'), element('line'), element('line')),
  slot,
  element('columns', ...[3, 2, 3, 2, 3, 2].map((count) => element('block', ...lines(count)))),
);
document.body.append(page);

let drawn = new AbortController();
let tell = (): void => undefined;
// Reports the height again, because it changes with the width and when an image loads.
new ResizeObserver(() => tell()).observe(slot);
/** Minimum space below the banner, in CSS pixels. */
const BELOW = 24;

/** Resolves a relative URL against the site. Returns other URLs unchanged. */
const onSite = (url: string, site: string | null): string =>
  site && URL.canParse(url, site) ? new URL(url, site).href : url;

const hasText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

const draw = (request: FrameRequest) => {
  drawn.abort();
  drawn = new AbortController();
  const problems: FrameProblem[] = [];
  const { template, properties, scheme, isRightToLeft, isLargeText, hasLongWords, site } = request;
  const root = document.documentElement;
  root.dataset['scheme'] = scheme;
  root.dataset['template'] = template;
  root.dir = isRightToLeft ? 'rtl' : 'ltr';
  root.classList.toggle('large', isLargeText);
  const { needed } = TEMPLATE_CATALOGUE.find(({ name }) => name === template)!;
  const isDrawn = properties !== null && needed.some((name) => hasText(properties[name]?.value));
  slot.replaceChildren(...(isDrawn ? [] : ['Your banner will be here']));
  slot.classList.toggle('empty', !isDrawn);
  tell = () => {
    const height = Math.ceil(slot.getBoundingClientRect().bottom) + BELOW;
    report({ type: 'placard:preview-drawn', height, problems });
  };
  if (properties !== null && isDrawn) {
    const banner = {
      id: 'preview',
      placementId: 'preview',
      isControl: false,
      isTestSend: true,
      expiresAt: null,
      // The properties are JSON from the editor's message.
      properties: (hasLongWords ? longWords(properties) : properties) as Banner['properties'],
    };
    try {
      TEMPLATES[template](banner, {
        element: slot,
        placementId: 'preview',
        signal: drawn.signal,
        ...INERT_METHODS,
        now: Date.now,
        safeUrl: (url, use) =>
          typeof url === 'string' && getUrlError(url, use) === null ? onSite(url, site) : null,
        report: () => {
          const message = site === null ? 'It cannot be loaded here.' : `It cannot be loaded from ${site}.`;
          problems.push({ property: 'image', message });
          tell();
        },
      });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      problems.push({ property: 'headline', message });
    }
  }
  requestAnimationFrame(tell);
};

// Disables links and buttons, because they would leave the preview.
const hold = (event: Event) => {
  event.preventDefault();
  event.stopImmediatePropagation();
};
for (const type of ['click', 'auxclick', 'submit']) addEventListener(type, hold, { capture: true });

addEventListener('message', ({ origin, source, data }) => {
  if (origin === location.origin && source === parent && data?.type === 'placard:preview') draw(data);
});
report({ type: 'placard:preview-ready' });
