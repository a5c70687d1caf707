import { useSignal } from '@preact/signals';
import {
  type AudienceModel,
  type Condition,
  readAudience,
  writeAudience,
} from '../../campaign/audience-model.ts';
import { audienceWords } from '../../campaign/audience-words.ts';
import type { Filter } from '../../campaign/campaign-text.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import type { NamesAnswer } from '../../server/routes/names.ts';
import { Button, Segments } from '../parts/controls.tsx';
import { CheckWords, checksAt, describedBy, Field, ListField, unreadable } from '../parts/fields.tsx';
import { NameLists, useNames } from '../parts/names.tsx';
import { segmentName, signedIn } from '../shell/session.ts';
import { ConditionRow } from './conditions.tsx';
import type { Editor } from './editor-state.ts';
import { Reach } from './reach.tsx';
import './blocks.css';

/** People who see it whatever the rules say. */
export const TestUsers = ({ editor }: { editor: Editor }) => (
  <ListField
    id="test_users"
    label="Test users"
    help="IDs of users as your site sends them, separated by commas. They see it whatever its state, time and audience are, and count in no result."
    checks={checksAt(editor.checks.value, 'test_users')}
    values={editor.campaign.value.test_users ?? []}
    onChange={(users) => editor.set('test_users', users.length > 0 ? users : null)}
  />
);

interface AudienceJsonProps {
  audience: Filter | null;
  checks: readonly DraftCheck[];
  onChange(audience: Filter | null): void;
}

const parse = (typed: string): Filter | null | undefined => {
  if (typed.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(typed);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Filter)
      : undefined;
  } catch {
    // Half-written JSON is the ordinary state of an editor.
    return undefined;
  }
};

/** The filter itself, for what the builder has no lines for. */
export const AudienceJson = ({ audience, checks, onChange }: AudienceJsonProps) => {
  const typed = useSignal<string | null>(null);
  const isUnread = typed.value !== null && parse(typed.value) === undefined;
  const unread = isUnread ? [unreadable('Not an object in JSON yet. The last good audience stays.')] : [];
  const shown = typed.value ?? (audience ? JSON.stringify(audience, null, 2) : '');
  return (
    <Field
      id="audience-json"
      label="Audience as JSON"
      help="A filter in MongoDB's query form. Empty is everyone."
      checks={[...unread, ...checks]}
    >
      <textarea
        id="audience-json"
        class="code"
        rows={8}
        dir="ltr"
        spellcheck={false}
        value={shown}
        aria-invalid={isUnread}
        aria-describedby={describedBy('audience-json')}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
          const filter = parse(typed.value);
          if (filter !== undefined) onChange(filter);
        }}
      />
    </Field>
  );
};

const NEW: readonly { name: string; make: () => Condition }[] = [
  { name: 'Attribute', make: () => ({ kind: 'attribute', name: '', operator: 'is', value: '' }) },
  { name: 'Event', make: () => ({ kind: 'event', name: '', atLeast: 1, withinDays: 30 }) },
  { name: 'Purchase', make: () => ({ kind: 'purchase', name: '', atLeast: 1, withinDays: 30 }) },
  { name: 'Subscription', make: () => ({ kind: 'group', id: '', state: 'subscribed' }) },
  { name: 'App', make: () => ({ kind: 'app', ids: [] }) },
  { name: 'Segment', make: () => ({ kind: 'segment', id: '', isIn: true }) },
];

/** A line without its name says nothing yet: it stays in the builder and out of the campaign. */
const isComplete = (condition: Condition): boolean => {
  if (condition.kind === 'app') return condition.ids.length > 0;
  if (condition.kind === 'group' || condition.kind === 'segment') return condition.id !== '';
  return condition.name.trim() !== '' && !(condition.kind === 'attribute' && condition.value === '');
};

/** None of the users who were looked at has it: a slip of the pen reaches nobody. What is to be missing may be. */
const isUnknown = (condition: Condition, names: NamesAnswer | null): boolean => {
  if (names === null || !isComplete(condition)) return false;
  if (condition.kind === 'event') return condition.atLeast > 0 && !names.events.includes(condition.name);
  if (condition.kind === 'purchase') return condition.atLeast > 0 && !names.products.includes(condition.name);
  if (condition.kind !== 'attribute' || condition.operator === 'is not known') return false;
  // What is no profile's own, and paths inside of an object.
  const isOwn = !['external_id', 'email', 'phone', 'app_version', 'app_id'].includes(condition.name);
  return (
    isOwn && !condition.name.includes('.') && !names.attributes.some(({ name }) => name === condition.name)
  );
};

interface AudienceBuilderProps {
  audience: Filter | null;
  checks: readonly DraftCheck[];
  /** Whether it may ask for segments. */
  hasSegments: boolean;
  onChange(audience: Filter | null): void;
}

/** An audience, line by line or as JSON. */
export const AudienceBuilder = ({ audience, checks, hasSegments, onChange }: AudienceBuilderProps) => {
  const read = readAudience(audience);
  const names = useNames();
  /** Lines as they are typed, until the audience is changed from elsewhere. */
  const typed = useSignal<{ of: Filter | null; model: AudienceModel } | null>(null);
  const isJson = useSignal(read === null);
  const isTyped = typed.value && JSON.stringify(typed.value.of) === JSON.stringify(audience);
  const model = isTyped ? typed.value!.model : read;
  const put = (next: AudienceModel) => {
    const filter = writeAudience({ ...next, conditions: next.conditions.filter(isComplete) });
    typed.value = { of: filter, model: next };
    if (JSON.stringify(filter) !== JSON.stringify(audience)) onChange(filter);
  };
  const kinds = NEW.filter(
    ({ name }) => name !== 'Segment' || (hasSegments && signedIn().workspace.segments.length > 0),
  );
  return (
    <>
      {isJson.value || !model ? (
        <AudienceJson audience={audience} checks={checks} onChange={onChange} />
      ) : (
        <>
          <NameLists names={names} />
          {model.conditions.length > 1 && (
            <Segments
              label="They have to fit"
              options={[
                { value: 'all', name: 'all of these' },
                { value: 'any', name: 'any of these' },
              ]}
              chosen={model.match}
              onChoose={(match) => put({ ...model, match })}
            />
          )}
          <ul class="stack">
            {model.conditions.map((condition, index) => (
              <ConditionRow
                // biome-ignore lint/suspicious/noArrayIndexKey: a line is what stands at its position
                key={index}
                id={`condition-${index}`}
                condition={condition}
                isIncomplete={!isComplete(condition)}
                isUnknown={isUnknown(condition, names)}
                onChange={(changed) => put({ ...model, conditions: model.conditions.with(index, changed) })}
                onRemove={() => {
                  put({ ...model, conditions: model.conditions.toSpliced(index, 1) });
                  document.getElementById('add-condition')?.focus();
                }}
              />
            ))}
          </ul>
          <div class="row">
            <span class="label" id="add-label">
              {model.conditions.length === 0 ? 'Only people with a certain' : 'And a certain'}
            </span>
            {kinds.map(({ name, make }, index) => (
              <Button
                key={name}
                id={index === 0 ? 'add-condition' : undefined}
                onClick={() => {
                  put({ ...model, conditions: [...model.conditions, make()] });
                  const at = model.conditions.length;
                  setTimeout(() => document.getElementById(`condition-${at}`)?.focus());
                }}
              >
                {name}
              </Button>
            ))}
          </div>
          <CheckWords checks={checks} />
        </>
      )}
      {model ? (
        <Button
          look="link"
          onClick={() => {
            isJson.value = !isJson.value;
          }}
        >
          {isJson.value ? 'Back to the builder' : 'Write it as JSON'}
        </Button>
      ) : (
        <p class="field-help">This audience says more than the builder has lines for, so it stays JSON.</p>
      )}
    </>
  );
};

/** Who gets it. */
export const Audience = ({ editor }: { editor: Editor }) => {
  const { audience } = editor.campaign.value;
  return (
    <>
      <section class="stack" id="audience" tabIndex={-1} aria-label="Audience">
        <div class="sunk audience-words">
          <p>{audienceWords(audience, segmentName)}</p>
          <Reach campaign={editor.campaign.value} />
        </div>
        <AudienceBuilder
          audience={audience ?? null}
          checks={checksAt(editor.checks.value, 'audience')}
          hasSegments
          onChange={(filter) => editor.set('audience', filter)}
        />
      </section>
      <TestUsers editor={editor} />
    </>
  );
};
