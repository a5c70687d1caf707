import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { type AudienceModel, readAudience, writeAudience } from '../../campaign/audience-model.ts';
import type { Filter } from '../../campaign/campaign-json.ts';
import { isComplete, isUnknown, NEW_CONDITIONS } from '../../campaign/conditions/kinds.ts';
import { describeAudience } from '../../campaign/describe-audience.ts';
import { parseObject } from '../../campaign/parse-object.ts';
import type { DraftCheck } from '../../server/check-draft.ts';
import type { ReachResponse } from '../../server/routes/publish-impact.ts';
import { Button, focusOnceRendered, Segments } from '../components/controls.tsx';
import {
  checksAt,
  describedBy,
  Field,
  IssueList,
  ListField,
  unreadable,
  useInvalid,
} from '../components/fields.tsx';
import type { Loaded } from '../components/loading.tsx';
import { NameLists, useNames } from '../components/suggestions.tsx';
import { audienceName, signedIn } from '../shell/session.ts';
import { ConditionRow } from './conditions.tsx';
import type { Editor } from './editor-state.ts';
import { Reach, type Visibility } from './reach.tsx';
import './blocks.css';

interface AudienceJsonProps {
  audience: Filter | null;
  checks: readonly DraftCheck[];
  onChange(audience: Filter | null): void;
}

const parse = (typed: string): Filter | null | undefined => (typed.trim() === '' ? null : parseObject(typed));

/** JSON editor for filters that the builder cannot show. */
const AudienceJson = ({ audience, checks, onChange }: AudienceJsonProps) => {
  const typed = useSignal<string | null>(null);
  const isInvalid = typed.value !== null && parse(typed.value) === undefined;
  const own = isInvalid ? [unreadable('Invalid JSON. The last valid audience is used.')] : [];
  useInvalid('audience-json', isInvalid);
  const shown = typed.value ?? (audience ? JSON.stringify(audience, null, 2) : '');
  return (
    <Field
      id="audience-json"
      label="Audience as JSON"
      help="A filter in MongoDB's query form. Empty is everyone."
      checks={[...own, ...checks]}
    >
      <textarea
        id="audience-json"
        class="code"
        rows={8}
        dir="ltr"
        spellcheck={false}
        value={shown}
        aria-invalid={isInvalid}
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

interface AudienceBuilderProps {
  audience: Filter | null;
  checks: readonly DraftCheck[];
  /** Whether conditions can use segments. */
  hasSegments: boolean;
  onChange(audience: Filter | null): void;
}

/** Audience editor with conditions as rows, or with JSON. */
export const AudienceBuilder = ({ audience, checks, hasSegments, onChange }: AudienceBuilderProps) => {
  const read = readAudience(audience);
  const names = useNames();
  /** Conditions as entered, valid until the audience changes from outside. */
  const typed = useSignal<{ of: Filter | null; model: AudienceModel } | null>(null);
  const isJson = useSignal(read === null);
  const isTyped = typed.value && JSON.stringify(typed.value.of) === JSON.stringify(audience);
  const model = isTyped ? typed.value!.model : read;
  /** Number of changes from outside. Each remounts the fields, because they are uncontrolled. */
  const outside = useRef({ count: 0, last: JSON.stringify(audience) });
  if (!isTyped && outside.current.last !== JSON.stringify(audience)) {
    outside.current = { count: outside.current.count + 1, last: JSON.stringify(audience) };
  }
  const put = (next: AudienceModel) => {
    const filter = writeAudience({ ...next, conditions: next.conditions.filter(isComplete) });
    typed.value = { of: filter, model: next };
    outside.current.last = JSON.stringify(filter);
    if (JSON.stringify(filter) !== JSON.stringify(audience)) onChange(filter);
  };
  const kinds = NEW_CONDITIONS.filter(
    ({ label }) => label !== 'Segment' || (hasSegments && signedIn().workspace.segments.length > 0),
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
              label="Match"
              options={[
                { value: 'all', name: 'All' },
                { value: 'any', name: 'Any' },
              ]}
              chosen={model.match}
              onChoose={(match) => put({ ...model, match })}
            />
          )}
          <ul class="stack">
            {model.conditions.map((condition, index) => (
              <ConditionRow
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have no ID; the position identifies them
                key={`${outside.current.count} ${index}`}
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
              Add a condition
            </span>
            {kinds.map(({ label, blank }, index) => (
              <Button
                key={label}
                id={index === 0 ? 'add-condition' : undefined}
                onClick={() => {
                  put({ ...model, conditions: [...model.conditions, blank()] });
                  const at = model.conditions.length;
                  focusOnceRendered(`condition-${at}`);
                }}
              >
                {label}
              </Button>
            ))}
          </div>
          <IssueList checks={checks} />
        </>
      )}
      {model ? (
        <Button
          look="link"
          onClick={() => {
            isJson.value = !isJson.value;
          }}
        >
          {isJson.value ? 'Back to the builder' : 'Edit as JSON'}
        </Button>
      ) : (
        <p class="field-help">The builder doesn’t support this audience. Edit it as JSON.</p>
      )}
    </>
  );
};

interface AudienceProps {
  editor: Editor;
  reach: Loaded<ReachResponse>;
  visibility: Visibility;
}

/** Section of the editor for the audience. */
export const Audience = ({ editor, reach, visibility }: AudienceProps) => {
  const { audience, test_users } = editor.campaign.value;
  return (
    <>
      <section class="stack" id="audience" tabIndex={-1} aria-label="Audience">
        <div class="sunk audience-words">
          <p>{describeAudience(audience, audienceName)}</p>
          <Reach loaded={reach} visibility={visibility} />
        </div>
        <AudienceBuilder
          audience={audience ?? null}
          checks={checksAt(editor.checks.value, 'audience')}
          hasSegments
          onChange={(filter) => editor.set('audience', filter)}
        />
      </section>
      <ListField
        id="test_users"
        label="Test users"
        help="External IDs, comma-separated. Always see this campaign; excluded from results."
        checks={checksAt(editor.checks.value, 'test_users')}
        values={test_users ?? []}
        onChange={(users) => editor.set('test_users', users.length > 0 ? users : null)}
      />
    </>
  );
};
