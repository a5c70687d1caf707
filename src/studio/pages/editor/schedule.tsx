import type { CampaignText } from '../../campaign/campaign-text.ts';
import { STATUS_WORDS } from '../../campaign/member-words.ts';
import { wholeMoment } from '../parts/dates.ts';
import { MomentInput } from '../parts/moment-input.tsx';
import { Segments } from '../parts/segments.tsx';
import { signedIn } from '../shell/session.ts';
import type { Editor } from './editor-state.ts';
import { checksAt, describedBy, Field, hasError } from './field.tsx';
import { Frequency } from './frequency.tsx';
import { NumberField } from './number-field.tsx';
import { Tags } from './tags.tsx';

const STATUSES = (['active', 'draft', 'stopped'] as const).map((value) => ({
  value,
  name: STATUS_WORDS[value],
}));
const PRIORITIES = [
  { value: 'high', name: 'High' },
  { value: 'medium', name: 'Medium' },
  { value: 'low', name: 'Low' },
] as const;

const When = ({
  editor,
  member,
  label,
  help,
}: {
  editor: Editor;
  member: 'starts_at' | 'ends_at';
  label: string;
  help: string;
}) => {
  const value = editor.campaign.value[member];
  const put = (moment: string | null) =>
    editor.change(
      ({ [member]: _, ...rest }) => (moment === null ? rest : { ...rest, [member]: moment }) as CampaignText,
      member,
    );
  const checks = checksAt(editor.checks.value, member);
  return (
    <Field id={member} label={label} help={value ? `${wholeMoment(value)}` : help} checks={checks}>
      <div class="when">
        <MomentInput
          id={member}
          value={value ?? null}
          isInvalid={hasError(checks)}
          describedBy={describedBy(member)}
          onChange={put}
        />
        {value && (
          <button
            type="button"
            class="button quiet"
            aria-label={`Clear ${label}`}
            onClick={() => {
              put(null);
              document.getElementById(member)?.focus();
            }}
          >
            Clear
          </button>
        )}
      </div>
    </Field>
  );
};

/** When it is shown, what it gives way to, and what a dismissal does. */
export const Schedule = ({ editor }: { editor: Editor }) => {
  const campaign = editor.campaign.value;
  return (
    <>
      <Segments
        label="Once published"
        options={STATUSES}
        chosen={campaign.status}
        onChoose={(status) => editor.change((before) => ({ ...before, status }))}
      />
      <p class="field-help">All times are in {signedIn().workspace.timeZone}, wherever you are.</p>
      <div class="pair">
        <When editor={editor} member="starts_at" label="Start" help="Empty: from when it is published on." />
        <When editor={editor} member="ends_at" label="End" help="Empty: it has no end." />
      </div>
      <Segments
        label="Priority"
        options={PRIORITIES}
        chosen={campaign.priority ?? 'medium'}
        onChoose={(priority) => editor.change((before) => ({ ...before, priority }))}
      />
      <p class="field-help">
        Of two campaigns for one placement the higher priority is shown, then the one that starts later.
      </p>
      <Frequency editor={editor} />
      <NumberField
        id="reeligible_after_hours"
        label="Hours after a dismissal until it may be shown again"
        help="Empty: never again."
        isFraction
        checks={checksAt(editor.checks.value, 'reeligible_after_hours')}
        value={campaign.reeligible_after_hours}
        onChange={(hours) =>
          editor.change(
            ({ reeligible_after_hours: _, ...rest }) =>
              hours === null ? rest : { ...rest, reeligible_after_hours: hours },
            'reeligible',
          )
        }
      />
      <Tags editor={editor} />
    </>
  );
};
