import { getKeys } from '../../../protocol/index.ts';
import type { FrequencyJson, StopAfterJson } from '../../campaign/campaign-json.ts';
import { PRIORITY_WORDS, STATUS_WORDS } from '../../campaign/describe-fields.ts';
import { Button, Segments } from '../components/controls.tsx';
import {
  checksAt,
  describedBy,
  Field,
  hasError,
  IssueList,
  ListField,
  MomentInput,
  NumberField,
} from '../components/fields.tsx';
import { wholeMoment } from '../components/format.ts';
import { signedIn } from '../shell/session.ts';
import type { Editor } from './editor-state.ts';

const DEFAULT_DAYS = 7;
const MAX_DAYS = 30;

const STOPS: readonly { name: keyof StopAfterJson; label: string }[] = [
  { name: 'impressions', label: 'Impressions' },
  { name: 'clicks', label: 'Clicks' },
  { name: 'conversions', label: 'Conversions' },
];

/** Removes empty members. Returns `null` if no member is left. */
const shortened = ({ impressions, stop_after }: FrequencyJson): FrequencyJson | null => {
  const stops = Object.entries(stop_after ?? {}).filter(([, count]) => count != null);
  const short = {
    ...(impressions && { impressions }),
    ...(stops.length > 0 && { stop_after: Object.fromEntries(stops) }),
  };
  return Object.keys(short).length > 0 ? short : null;
};

/** Frequency capping. */
const Frequency = ({ editor }: { editor: Editor }) => {
  const { frequency, conversions } = editor.campaign.value;
  const { impressions, stop_after } = frequency ?? {};
  const put = (changed: FrequencyJson) => {
    editor.set('frequency', shortened({ ...frequency, ...changed }));
  };
  const checks = checksAt(editor.checks.value, 'frequency');
  const hasGoals = (conversions ?? []).length > 0;
  return (
    <fieldset class="field" id="frequency" tabIndex={-1}>
      <legend class="label">Frequency cap</legend>
      <div class="numbers">
        <NumberField
          id="frequency-max"
          label="Max impressions"
          min={1}
          value={impressions?.max}
          onChange={(max) =>
            put({ impressions: max === null ? null : { max, days: impressions?.days ?? DEFAULT_DAYS } })
          }
        />
        {impressions && (
          <NumberField
            id="frequency-days"
            label="Per days"
            min={1}
            max={MAX_DAYS}
            value={impressions.days}
            isRequired
            onChange={(days) => days !== null && put({ impressions: { ...impressions, days } })}
          />
        )}
      </div>
      <p class="label">Stop after</p>
      <div class="numbers">
        {STOPS.filter(({ name }) => name !== 'conversions' || hasGoals).map(({ name, label }) => (
          <NumberField
            key={name}
            id={`stop-${name}`}
            label={label}
            min={1}
            value={stop_after?.[name]}
            onChange={(count) => put({ stop_after: { ...stop_after, [name]: count } })}
          />
        ))}
      </div>
      <p class="field-help">Per user, on all devices. Empty: no limit.</p>
      <IssueList checks={checks} />
    </fieldset>
  );
};

const describeTagCaps = (caps: readonly { tag: string; campaignsPerDay: number }[]): string =>
  caps.length === 0
    ? 'No tag caps.'
    : `Daily cap per user: ${caps.map(({ tag, campaignsPerDay }) => `${campaignsPerDay} of “${tag}”`).join(', ')}.`;

const STATUSES = getKeys(STATUS_WORDS).map((value) => ({ value, name: STATUS_WORDS[value] }));
const PRIORITIES = getKeys(PRIORITY_WORDS).map((value) => ({ value, name: PRIORITY_WORDS[value] }));

interface WhenProps {
  editor: Editor;
  member: 'starts_at' | 'ends_at';
  label: string;
  help: string;
}

const When = ({ editor, member, label, help }: WhenProps) => {
  const value = editor.campaign.value[member];
  const checks = checksAt(editor.checks.value, member);
  return (
    <Field id={member} label={label} help={value ? wholeMoment(value) : help} checks={checks}>
      <div class="row when">
        <MomentInput
          id={member}
          value={value ?? null}
          isInvalid={hasError(checks)}
          describedBy={describedBy(member)}
          onChange={(moment) => editor.set(member, moment)}
        />
        {value && (
          <Button
            look="quiet"
            aria-label={`Clear ${label}`}
            onClick={() => {
              editor.set(member, null);
              document.getElementById(member)?.focus();
            }}
          >
            Clear
          </Button>
        )}
      </div>
    </Field>
  );
};

/** Section of the editor for schedule, priority and dismissal. */
export const Schedule = ({ editor }: { editor: Editor }) => {
  const campaign = editor.campaign.value;
  const { timeZone, tagCaps } = signedIn().workspace;
  return (
    <>
      <Segments
        label="Once published"
        options={STATUSES}
        chosen={campaign.status}
        onChoose={(status) => editor.set('status', status, '')}
      />
      <p class="field-help">All times are in {timeZone}.</p>
      <div class="pair">
        <When editor={editor} member="starts_at" label="Start" help="Empty: on publish." />
        <When editor={editor} member="ends_at" label="End" help="Empty: no end." />
      </div>
      <Segments
        label="Priority"
        options={PRIORITIES}
        chosen={campaign.priority ?? 'medium'}
        onChoose={(priority) => editor.set('priority', priority, '')}
      />
      <p class="field-help">Higher priority wins; ties go to the later start.</p>
      <Frequency editor={editor} />
      <NumberField
        id="reeligible_after_hours"
        label="Show again after dismissal (hours)"
        help="Empty: never."
        isFraction
        checks={checksAt(editor.checks.value, 'reeligible_after_hours')}
        value={campaign.reeligible_after_hours}
        onChange={(hours) => editor.set('reeligible_after_hours', hours)}
      />
      <ListField
        id="tags"
        label="Tags"
        help={`Comma-separated. ${describeTagCaps(tagCaps)}`}
        checks={checksAt(editor.checks.value, 'tags')}
        values={campaign.tags ?? []}
        onChange={(tags) => editor.set('tags', tags.length > 0 ? tags : null)}
      />
    </>
  );
};
