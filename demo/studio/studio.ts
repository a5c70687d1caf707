import type { Banner } from '../../src/client/index.ts';
import { node } from '../ui/node.ts';
import { askPreview, type Overview, type Preview } from './ask-server.ts';
import { USER_NAMES } from './attribute-hint.ts';
import { campaignList } from './campaign-list.ts';
import { nameOf } from './campaign-text.ts';
import { copyDraft } from './copy-draft.ts';
import { createDraft, type Draft } from './draft.ts';
import { type DraftProblem, problemLines } from './draft-problem.ts';
import { facts, stateMark } from './facts.ts';
import { createFrames } from './frames.ts';
import { keepInSight } from './keep-in-sight.ts';
import { propertyForm } from './property-form.ts';
import { segments } from './segments.ts';
import { verdictWords } from './who-words.ts';

/** Pause in typing after which the frames follow. */
const TYPING_MS = 120;
/** Of whom the service knows nothing: not even a name. */
const NEWCOMER = { id: 'somebody-new', label: 'Somebody new' };
const IMAGES = ['hero-kiln', 'hero-shelf', 'promo-tea', 'promo-gift'].map((name) => `/images/${name}.svg`);

/**
 * The whole Studio: choose, look, edit, copy. A change runs down one line and never back: a campaign draws its controls,
 * those draw the form, the form asks the server for a preview (`look`), and the answer goes into the frames (`show`).
 */
export const createStudio = ({ name, campaigns, placements, visitors, results }: Overview): HTMLElement => {
  const drafts = new Map<string, Draft>(campaigns.map((each) => [each.campaign_id, createDraft(each)]));
  const [firstCampaign] = campaigns;
  if (!firstCampaign) {
    return node('div', { class: 'empty' }, [
      node('h1', {}, ['No campaigns yet']),
      node('p', {}, ['Write one into the workspace file; it appears here when you open the Studio again.']),
    ]);
  }
  let campaignId = firstCampaign.campaign_id;
  let variantId = '';
  let placementId = '';
  let userId = visitors[0]?.id ?? NEWCOMER.id;
  let scheme: 'light' | 'dark' = 'light';

  const ownNames = visitors
    .flatMap(({ attributes }) => Object.keys(attributes))
    .filter((each) => !USER_NAMES.some((standard) => standard === each));

  const controls = node('div', { class: 'controls' });
  const about = node('div', { class: 'about' });
  const verdict = node('p', { class: 'verdict', role: 'status' });
  const problem = node('p', { class: 'problem', role: 'alert' });
  const copied = node('p', { class: 'small', role: 'status' });
  const draft = () => drafts.get(campaignId)!;

  const form = node('div', { class: 'form' });
  let fields: ReturnType<typeof propertyForm> | undefined;
  /** What the service says of the draft, and what the pages say that drew the last good one. */
  let refused: DraftProblem[] = [];
  let undrawn: DraftProblem[] = [];
  let banner: Banner | null = null;
  const tell = () => {
    const problems = refused.length > 0 ? refused : undrawn;
    const lines = problemLines(problems);
    // An alert is read out again where only the same words were written again.
    if (problem.textContent !== lines) problem.textContent = lines;
    fields?.tell(problems, refused.length > 0 ? null : banner);
    bringInSight();
  };
  const frames = createFrames((problems) => {
    undrawn = problems;
    tell();
  });
  const screen = node('div', { class: 'screen' }, [problem, frames.element]);
  const bringInSight = keepInSight(form, screen);

  let asking: AbortController | undefined;
  let typing: ReturnType<typeof setTimeout> | undefined;
  const show = (preview: Preview) => {
    refused = 'problems' in preview ? preview.problems : [];
    if ('problems' in preview) return tell();
    const visitor = visitors.find(({ id }) => id === userId)?.label.split(',')[0] ?? 'somebody new';
    verdict.textContent = verdictWords(draft().campaign(), { id: userId, name: visitor }, preview.eligible);
    banner = preview.banners[placementId] ?? null;
    tell();
    frames.show({ placementId, banner, scheme });
  };
  const look = async () => {
    asking?.abort();
    asking = new AbortController();
    try {
      show(await askPreview({ campaign: draft().campaign(), variantId, userId }, asking.signal));
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') return;
      show({
        problems: [
          { property: null, words: 'The server does not answer. What you see is as it was before.' },
        ],
      });
    }
  };
  const lookSoon = () => {
    clearTimeout(typing);
    typing = setTimeout(look, TYPING_MS);
  };

  const copy = async () => {
    const text = draft().json();
    const said = await copyDraft(text, { campaign: draft().campaign(), variantId, userId });
    // Of what was changed in the meantime it says nothing.
    if (draft().json() === text) copied.textContent = said;
  };

  const marks = node('div', { class: 'draft-bar' });
  const drawMarks = () => {
    const changed = draft().isChanged();
    marks.replaceChildren(
      node('p', { class: 'draft-state' }, [changed ? 'Changed here only.' : 'As in the workspace file.']),
      node('button', { type: 'button', class: 'quiet', disabled: !changed }, ['Start over'], {
        click: () => {
          draft().reset();
          drawForm(null);
        },
      }),
      node('button', { type: 'button', class: 'primary' }, ['Copy JSON'], {
        click: copy,
      }),
    );
  };
  const drawForm = (focus: string | null) => {
    fields = propertyForm({
      draft: draft(),
      variantId,
      images: IMAGES,
      own: ownNames,
      onChange() {
        copied.textContent = '';
        drawMarks();
        lookSoon();
      },
      onShape: drawForm,
    });
    form.replaceChildren(fields.element);
    if (focus) form.querySelector<HTMLElement>(`#property-${CSS.escape(focus)}`)?.focus();
    copied.textContent = '';
    drawMarks();
    void look();
  };

  const drawControls = () => {
    const { variants, placements: places } = draft().campaign();
    if (!variants.some(({ variant_id }) => variant_id === variantId))
      variantId = variants[0]?.variant_id ?? '';
    if (!places.includes(placementId)) placementId = places[0] ?? '';
    const placementName = (id: string) => placements.find((each) => each.placement_id === id)?.name ?? id;
    controls.replaceChildren(
      node('div', { class: 'choices' }, [
        variants.length > 1 &&
          segments({
            label: 'Variant',
            options: variants.map(({ variant_id, name: text }) => ({
              value: variant_id,
              name: text ?? variant_id,
            })),
            chosen: variantId,
            onChoose(value) {
              variantId = value;
              drawForm(null);
            },
          }),
        places.length > 1 &&
          segments({
            label: 'Placement',
            options: places.map((value) => ({ value, name: placementName(value) })),
            chosen: placementId,
            onChoose(value) {
              placementId = value;
              void look();
            },
          }),
      ]),
    );
    about.replaceChildren(
      node('div', { class: 'about-head' }, [
        node('h2', {}, [nameOf(draft().campaign())]),
        stateMark(draft().campaign()),
        node('span', { class: 'muted' }, [places.map(placementName).join(', ')]),
      ]),
      facts(draft().campaign(), results),
    );
    drawForm(null);
  };

  const list = campaignList(campaigns, (chosen) => {
    campaignId = chosen;
    drawControls();
  });
  const seenBy = node(
    'select',
    { id: 'seen-by' },
    [...visitors, NEWCOMER].map(({ id, label }) => node('option', { value: id }, [label])),
    {
      change: () => {
        userId = seenBy.value;
        void look();
      },
    },
  );
  const schemes = segments({
    label: 'Page',
    options: [
      { value: 'light', name: 'Light' },
      { value: 'dark', name: 'Dark' },
    ],
    chosen: scheme,
    onChoose(value) {
      scheme = value;
      void look();
    },
  });

  // Drafts live on this page alone: the browser asks before they are gone.
  addEventListener('beforeunload', (event) => {
    if ([...drafts.values()].some((each) => each.isChanged())) event.preventDefault();
  });
  drawControls();
  return node('div', { class: 'bench' }, [
    node('header', { class: 'bench-top' }, [
      node('h1', {}, ['Studio']),
      node('p', { class: 'muted' }, [name]),
      node('p', { class: 'promise' }, ['You are looking at drafts: nothing you do here is live.']),
      node('a', { href: './index.html' }, ['Open the shop']),
    ]),
    node('nav', { class: 'side-bar list-bar', 'aria-label': 'Campaigns' }, [list]),
    node('main', { class: 'work' }, [
      node('div', { class: 'stage' }, [
        about,
        node('div', { class: 'stage-bar' }, [
          node('div', { class: 'who' }, [node('label', { for: 'seen-by' }, ['Seen by']), seenBy]),
          schemes,
          frames.choice,
          verdict,
        ]),
        screen,
      ]),
      node('section', { class: 'side-bar edit-bar', 'aria-label': 'Properties' }, [
        node('div', { class: 'edit-form' }, [controls, form]),
        node('div', { class: 'draft-foot' }, [marks, copied]),
      ]),
    ]),
  ]);
};
