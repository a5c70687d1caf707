import { useSignal } from '@preact/signals';
import { type AudienceModel, type Condition, readAudience } from '../../campaign/audience-model.ts';
import { audienceWords } from '../../campaign/audience-words.ts';
import type { Filter } from '../../campaign/campaign-text.ts';
import { writeAudience } from '../../campaign/write-audience.ts';
import { Segments } from '../parts/segments.tsx';
import { AudienceJson } from './audience-json.tsx';
import { ConditionRow } from './condition-row.tsx';
import type { Editor } from './editor-state.ts';
import { checksAt } from './field.tsx';
import { Reach } from './reach.tsx';
import { TestUsers } from './test-users.tsx';
import './audience.css';

const NEW: readonly { name: string; make: () => Condition }[] = [
  { name: 'Attribute', make: () => ({ kind: 'attribute', name: '', operator: 'is', value: '' }) },
  { name: 'Event', make: () => ({ kind: 'event', name: '', atLeast: 1, withinDays: 30 }) },
  { name: 'Purchase', make: () => ({ kind: 'purchase', name: '', atLeast: 1, withinDays: 30 }) },
  { name: 'Subscription', make: () => ({ kind: 'group', id: '', state: 'subscribed' }) },
  { name: 'App', make: () => ({ kind: 'app', ids: [] }) },
];

/** A line without its name says nothing yet: it stays in the builder and out of the campaign. */
const isComplete = (condition: Condition): boolean => {
  if (condition.kind === 'app') return condition.ids.length > 0;
  if (condition.kind === 'group') return condition.id !== '';
  return condition.name.trim() !== '' && !(condition.kind === 'attribute' && condition.value === '');
};

/** Who gets it. */
export const Audience = ({ editor }: { editor: Editor }) => {
  const { audience } = editor.campaign.value;
  const read = readAudience(audience);
  /** Lines as they are typed, until the campaign is changed from elsewhere. */
  const typed = useSignal<{ of: Filter | null; model: AudienceModel } | null>(null);
  const isJson = useSignal(read === null);
  const checks = checksAt(editor.checks.value, 'audience');
  const isTyped = typed.value && JSON.stringify(typed.value.of) === JSON.stringify(audience ?? null);
  const model = isTyped ? typed.value!.model : read;

  const putFilter = (filter: Filter | null) =>
    editor.change(
      ({ audience: _, ...rest }) => (filter === null ? rest : { ...rest, audience: filter }),
      'audience',
    );
  const put = (next: AudienceModel) => {
    const filter = writeAudience({ ...next, conditions: next.conditions.filter(isComplete) });
    typed.value = { of: filter, model: next };
    if (JSON.stringify(filter) !== JSON.stringify(audience ?? null)) putFilter(filter);
  };

  return (
    <>
      <section class="audience" id="audience" tabIndex={-1} aria-label="Audience">
        <div class="audience-words">
          <p>{audienceWords(audience)}</p>
          <Reach campaign={editor.campaign.value} />
        </div>
        {isJson.value || !model ? (
          <AudienceJson audience={audience ?? null} checks={checks} onChange={putFilter} />
        ) : (
          <>
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
            <ul class="conditions">
              {model.conditions.map((condition, index) => (
                <ConditionRow
                  // biome-ignore lint/suspicious/noArrayIndexKey: a line is what stands at its position
                  key={index}
                  id={`condition-${index}`}
                  condition={condition}
                  isIncomplete={!isComplete(condition)}
                  onChange={(changed) =>
                    put({
                      ...model,
                      conditions: model.conditions.map((each, at) => (at === index ? changed : each)),
                    })
                  }
                  onRemove={() => {
                    put({ ...model, conditions: model.conditions.filter((_, at) => at !== index) });
                    document.getElementById('add-condition')?.focus();
                  }}
                />
              ))}
            </ul>
            <div class="add-condition">
              <span class="label" id="add-label">
                {model.conditions.length === 0 ? 'Only people with a certain' : 'And a certain'}
              </span>
              {NEW.map(({ name, make }, index) => (
                <button
                  key={name}
                  type="button"
                  class="button"
                  id={index === 0 ? 'add-condition' : undefined}
                  onClick={() => {
                    put({ ...model, conditions: [...model.conditions, make()] });
                    const at = model.conditions.length;
                    setTimeout(() => document.getElementById(`condition-${at}`)?.focus());
                  }}
                >
                  {name}
                </button>
              ))}
            </div>
            {checks.map(({ words }) => (
              <p key={words} class="field-problem">
                {words}
              </p>
            ))}
          </>
        )}
        {model ? (
          <button
            type="button"
            class="link"
            onClick={() => {
              isJson.value = !isJson.value;
            }}
          >
            {isJson.value ? 'Back to the builder' : 'Write it as JSON'}
          </button>
        ) : (
          <p class="field-help">This audience says more than the builder has lines for, so it stays JSON.</p>
        )}
      </section>
      <TestUsers editor={editor} />
    </>
  );
};
