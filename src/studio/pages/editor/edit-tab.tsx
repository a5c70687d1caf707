import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { type CampaignJson, variantName } from '../../campaign/campaign-json.ts';
import { labelOf } from '../../campaign/describe-fields.ts';
import { languageName, otherLanguages } from '../../campaign/translations.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import { Button, into } from '../components/controls.tsx';
import { PreviewPane } from '../preview/preview-pane.tsx';
import { Audience } from './audience.tsx';
import type { Editor } from './editor-state.ts';
import { Goal } from './goal.tsx';
import { Message } from './message.tsx';
import { reachChecks, useReach } from './reach.tsx';
import { Schedule } from './schedule.tsx';
import './blocks.css';
import './editor.css';

/** Returns the location of a check, as labels. */
const whereOf = ({ path }: DraftCheck, campaign: CampaignJson): string => {
  const [first, second, third, fourth, fifth] = path;
  if (first === undefined) return '';
  if (first !== 'variants') return labelOf(String(first));
  const variant = campaign.variants[Number(second)];
  const name = variant && campaign.variants.length > 1 ? `${variantName(variant)} · ` : '';
  if (third === 'translations') return `${name}${languageName(String(fourth))} · ${labelOf(String(fifth))}`;
  return third === undefined ? name : name + labelOf(String(fourth ?? third));
};

const formatCount = (count: number, noun: string) => `${count} ${count === 1 ? noun : `${noun}s`}`;

interface CheckListProps {
  checks: readonly DraftCheck[];
  campaign: CampaignJson;
  onGo?(check: DraftCheck): void;
}

/** Checks of the draft, errors first. */
export const CheckList = ({ checks, campaign, onGo }: CheckListProps) => {
  const errors = checks.filter(({ severity }) => severity === 'error').length;
  return (
    <section class="panel checks" aria-labelledby="checks-title">
      <h2 id="checks-title">
        {errors > 0
          ? `${formatCount(errors, 'error')} to fix`
          : checks.length > 0
            ? `Can be published, with ${formatCount(checks.length, 'warning')}`
            : 'Ready to publish'}
      </h2>
      {checks.length > 0 && (
        <ul>
          {checks.map((check) => (
            <li key={JSON.stringify([check.path, check.words])} data-severity={check.severity}>
              <span class="visually-hidden">{check.severity}: </span>
              {onGo ? (
                <Button look="link" onClick={() => onGo(check)}>
                  {whereOf(check, campaign) || 'Campaign'}
                </Button>
              ) : (
                <b>{whereOf(check, campaign) || 'Campaign'}</b>
              )}
              : {check.words}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
};

export type Section = 'message' | 'audience' | 'schedule' | 'goal';

const SECTIONS: readonly { section: Section; name: string; members: readonly string[] }[] = [
  {
    section: 'message',
    name: 'Message',
    members: ['name', 'placements', 'variants', 'control_percentage', 'language'],
  },
  { section: 'audience', name: 'Audience', members: ['audience', 'test_users'] },
  {
    section: 'schedule',
    name: 'Schedule',
    members: ['status', 'starts_at', 'ends_at', 'priority', 'reeligible_after_hours', 'frequency', 'tags'],
  },
  { section: 'goal', name: 'Goal', members: ['conversions', 'target_sample_size'] },
];

const sectionInAddress = (): Section =>
  SECTIONS.find((each) => location.hash === `#${each.section}`)?.section ?? 'message';

const sectionOf = ({ path: [member] }: DraftCheck): Section =>
  SECTIONS.find(({ members }) => members.includes(String(member)))?.section ?? 'message';

/** The four sections of a campaign, with the preview beside them. */
export const EditTab = ({ editor }: { editor: Editor }) => {
  const section = useSignal(sectionInAddress());
  const open = (next: Section) => {
    if (next === section.value) return;
    section.value = next;
    history.pushState(null, '', next === 'message' ? location.pathname : `#${next}`);
  };
  useEffect(() => {
    const follow = () => {
      section.value = sectionInAddress();
    };
    addEventListener('popstate', follow);
    addEventListener('hashchange', follow);
    return () => {
      removeEventListener('popstate', follow);
      removeEventListener('hashchange', follow);
    };
  }, [section]);
  const variantId = useSignal(editor.campaign.value.variants[0]?.variant_id ?? '');
  const chosenLanguage = useSignal<string | null>(null);
  /** ID of the field to focus once it is rendered. */
  const wanted = useSignal<string | null>(location.hash === '#expires' ? 'expires' : null);
  const campaign = editor.campaign.value;
  const reach = useReach(campaign);
  const checks = [...editor.checks.value, ...reachChecks(reach)];
  const variant =
    campaign.variants.find(({ variant_id }) => variant_id === variantId.value) ?? campaign.variants[0];

  /** Shows and focuses the field of a check. */
  const goTo = (check: DraftCheck) => {
    const [member, index, part, ...names] = check.path;
    const property = names.at(-1);
    open(sectionOf(check));
    if (member === 'variants') {
      variantId.value = campaign.variants[Number(index)]?.variant_id ?? variantId.value;
      chosenLanguage.value = part === 'translations' ? String(names[0]) : null;
    }
    wanted.value = property === undefined ? String(member) : `property-${property}`;
  };
  // The language may have been removed, for example by Undo.
  const language = otherLanguages(campaign).find((each) => each === chosenLanguage.value) ?? null;
  const target = wanted.value;
  useLayoutEffect(() => {
    if (target === null) return;
    wanted.value = null;
    const field = document.getElementById(target);
    // The field may be in a closed “More” section.
    field?.closest('details')?.setAttribute('open', '');
    field?.focus();
    field?.scrollIntoView({ block: 'center' });
  }, [target, wanted]);

  return (
    <div class="edit">
      <div class="stack">
        <div class="edit-sections" role="tablist" aria-label="Parts of the campaign">
          {SECTIONS.map(({ section: each, name }) => {
            const own = checks.filter((check) => sectionOf(check) === each);
            const severity = own.some((check) => check.severity === 'error') ? 'error' : 'warning';
            return (
              <button
                key={each}
                type="button"
                role="tab"
                id={`tab-${each}`}
                aria-controls="section"
                aria-selected={section.value === each}
                tabIndex={section.value === each ? 0 : -1}
                onClick={() => open(each)}
                onKeyDown={(event) => {
                  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
                  if (step === 0) return;
                  const at = SECTIONS.findIndex((one) => one.section === each);
                  const next = SECTIONS[(at + step + SECTIONS.length) % SECTIONS.length]!;
                  open(next.section);
                  document.getElementById(`tab-${next.section}`)?.focus();
                }}
              >
                {name}
                {own.length > 0 && (
                  <span class="count" data-severity={severity}>
                    {own.length}
                    <span class="visually-hidden">{severity === 'error' ? ' to change' : ' to look at'}</span>
                  </span>
                )}
              </button>
            );
          })}
        </div>
        <div id="section" role="tabpanel" aria-labelledby={`tab-${section.value}`}>
          <fieldset disabled={editor.isReadOnly} class="panel">
            {section.value === 'message' && variant && (
              <Message
                editor={editor}
                variant={variant}
                onVariant={into(variantId)}
                language={language}
                onLanguage={into(chosenLanguage)}
              />
            )}
            {section.value === 'audience' && <Audience editor={editor} reach={reach} />}
            {section.value === 'schedule' && <Schedule editor={editor} />}
            {section.value === 'goal' && <Goal editor={editor} />}
          </fieldset>
        </div>
      </div>
      <div class="stack edit-side">
        <CheckList checks={checks} campaign={campaign} onGo={goTo} />
        {variant && <PreviewPane editor={editor} variantId={variant.variant_id} language={language} />}
      </div>
    </div>
  );
};
