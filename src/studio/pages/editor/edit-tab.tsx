import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { type CampaignJson, firstVariant, variantName } from '../../campaign/campaign-json.ts';
import { getFieldLabel } from '../../campaign/describe-fields.ts';
import { formatCount } from '../../campaign/format-number.ts';
import { languageName, otherLanguages } from '../../campaign/translations.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import { Button, into } from '../components/controls.tsx';
import { invalidFields } from '../components/fields.tsx';
import { announce } from '../components/notices.tsx';
import { PreviewPane } from '../preview/preview-pane.tsx';
import { Audience } from './audience.tsx';
import type { Editor } from './editor-state.ts';
import { Goal } from './goal.tsx';
import { Message } from './message.tsx';
import { getVisibility, reachChecks, useReach, type Visibility } from './reach.tsx';
import { Schedule } from './schedule.tsx';
import './blocks.css';
import './editor.css';

/** First path segment of a check of invalid input. The second segment is the ID of the field. */
const INVALID_INPUT = '';

/** Returns the IDs of fields with invalid input in the open section. */
const invalidInSection = (): readonly string[] =>
  invalidFields().filter((id) => document.getElementById(id)?.closest('#section'));

/** Focuses the first field with invalid input. Returns whether there is one. */
export const focusUnread = (): boolean => {
  const [id] = invalidInSection();
  if (id === undefined) return false;
  document.getElementById(id)?.focus();
  announce('This value is not saved. Fix or clear it first.');
  return true;
};

/** Returns the visibility of the draft, and the checks of fields, server and reach. */
export const useChecks = (editor: Editor) => {
  const campaign = editor.campaign.value;
  const reach = useReach(campaign);
  const visibility = getVisibility(campaign, reach, Date.now());
  const invalid = invalidInSection().map(
    (id): DraftCheck => ({
      severity: 'error',
      path: [INVALID_INPUT, id],
      message: 'Not saved. Fix or clear it.',
    }),
  );
  const found = [...invalid, ...editor.checks.value];
  const isInvalid = found.some(({ severity }) => severity === 'error');
  return {
    campaign,
    reach,
    visibility,
    isChecked: editor.isChecked.value && reach.state !== 'loading',
    // Omits checks of the reach, because an invalid draft has no reach.
    checks: isInvalid ? found : [...reachChecks(visibility, reach), ...found],
  };
};

/** Returns the location of a check, as labels. */
const formatLocation = ({ path }: DraftCheck, campaign: CampaignJson): string => {
  const [first, second, third, fourth, fifth] = path;
  if (first === undefined) return '';
  if (first === INVALID_INPUT) {
    const label = document.querySelector(`label[for="${second}"]`)?.textContent;
    return label ?? document.getElementById(String(second))?.closest('section')?.ariaLabel ?? '';
  }
  if (first !== 'variants') return getFieldLabel(String(first));
  const variant = campaign.variants[Number(second)];
  const name = variant && campaign.variants.length > 1 ? `${variantName(variant)} · ` : '';
  if (third === 'translations')
    return `${name}${languageName(String(fourth))} · ${getFieldLabel(String(fifth))}`;
  return third === undefined ? name : name + getFieldLabel(String(fourth ?? third));
};

interface CheckListProps {
  checks: readonly DraftCheck[];
  campaign: CampaignJson;
  /** Whether the draft and its reach are checked. */
  isChecked: boolean;
  visibility: Visibility;
  onGo?(check: DraftCheck): void;
}

/** Checks of the draft, errors first. */
export const CheckList = ({ checks, campaign, isChecked, visibility, onGo }: CheckListProps) => {
  const errors = checks.filter(({ severity }) => severity === 'error').length;
  const title = () => {
    if (errors > 0) return `${formatCount(errors, 'error')} to fix`;
    if (!isChecked) return 'Checking…';
    if (visibility.state === 'nobody') return 'No users will see it';
    return checks.length > 0
      ? `Can be published, with ${formatCount(checks.length, 'warning')}`
      : 'Ready to publish';
  };
  return (
    <section class="panel checks" data-invalid={errors > 0} aria-labelledby="checks-title">
      <h2 id="checks-title">{title()}</h2>
      {checks.length === 0 && <p class="muted">{visibility.message}</p>}
      {checks.length > 0 && (
        <ul>
          {checks.map((check) => (
            <li key={JSON.stringify([check.path, check.message])} data-severity={check.severity}>
              <span class="visually-hidden">{check.severity}: </span>
              {onGo ? (
                <Button look="link" onClick={() => onGo(check)}>
                  {formatLocation(check, campaign) || 'Campaign'}
                </Button>
              ) : (
                <b>{formatLocation(check, campaign) || 'Campaign'}</b>
              )}
              : {check.message}
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

const getSection = ({ path: [member] }: DraftCheck, open: Section): Section =>
  member === INVALID_INPUT
    ? open
    : (SECTIONS.find(({ members }) => members.includes(String(member)))?.section ?? 'message');

/** Editor of a campaign's four sections, with the preview next to it. */
export const EditTab = ({ editor }: { editor: Editor }) => {
  const section = useSignal(sectionInAddress());
  const open = (next: Section) => {
    // Stays in the section, because leaving it would discard the invalid input.
    if (next === section.value || focusUnread()) return;
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
  const variantId = useSignal(firstVariant(editor.campaign.value)?.variant_id ?? '');
  const chosenLanguage = useSignal<string | null>(null);
  /** ID of the field to focus once it is rendered. */
  const wanted = useSignal<string | null>(location.hash === '#expires' ? 'expires' : null);
  const checked = useChecks(editor);
  const { campaign, checks, reach, visibility } = checked;
  const variant =
    campaign.variants.find(({ variant_id }) => variant_id === variantId.value) ?? firstVariant(campaign);

  /** Shows and focuses the field of a check. */
  const goTo = (check: DraftCheck) => {
    const [member, index, part, ...names] = check.path;
    if (member === INVALID_INPUT) {
      wanted.value = String(index);
      return;
    }
    const property = names.at(-1);
    open(getSection(check, section.value));
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
        <div class="edit-sections" role="tablist" aria-label="Campaign sections">
          {SECTIONS.map(({ section: each, name }) => {
            const own = checks.filter((check) => getSection(check, section.value) === each);
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
                    <span class="visually-hidden">{` ${severity}${own.length === 1 ? '' : 's'}`}</span>
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
            {section.value === 'audience' && (
              <Audience editor={editor} reach={reach} visibility={visibility} />
            )}
            {section.value === 'schedule' && <Schedule editor={editor} />}
            {section.value === 'goal' && <Goal editor={editor} />}
          </fieldset>
        </div>
      </div>
      <div class="stack edit-side">
        <CheckList {...checked} onGo={goTo} />
        {variant && <PreviewPane editor={editor} variantId={variant.variant_id} language={language} />}
      </div>
    </div>
  );
};
