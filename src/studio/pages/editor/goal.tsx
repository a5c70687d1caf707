import { useSignal } from '@preact/signals';
import type { ConversionText } from '../../campaign/campaign-text.ts';
import { neededPeople } from '../../statistics/sample-size.ts';
import { checksAt, NumberField, RemoveButton } from '../parts/fields.tsx';
import { countText } from '../parts/format.ts';
import { EVENT_NAMES, NameLists, PRODUCT_IDS, useNames } from '../parts/names.tsx';
import type { Editor } from './editor-state.ts';
import './blocks.css';

const MAX_GOALS = 4;
const HOURS_A_DAY = 24;

/** How many people it takes to see a change, before any of them is asked. */
const SampleSize = ({ editor }: { editor: Editor }) => {
  const rate = useSignal<number | null>(5);
  const lift = useSignal<number | null>(20);
  const needed = neededPeople(editor.campaign.value, (rate.value ?? 0) / 100, (lift.value ?? 0) / 100);
  return (
    <details class="more">
      <summary>How many people does it take?</summary>
      <div class="properties">
        <div class="numbers">
          <NumberField
            id="sample-rate"
            label="So many do it today, %"
            max={100}
            isFraction
            value={rate.value}
            onChange={(value) => {
              rate.value = value;
            }}
          />
          <NumberField
            id="sample-lift"
            label="A lift worth seeing, %"
            max={1_000}
            isFraction
            value={lift.value}
            onChange={(value) => {
              lift.value = value;
            }}
          />
        </div>
        <p role="status">
          {needed === null
            ? 'Nothing to compare: it takes a second variant, or a goal and a control group, and a rate above 0 that stays below 100 % with its lift.'
            : `About ${countText(needed)} people: then such a change is found four times of five.`}
        </p>
        {needed !== null && (
          <button
            type="button"
            class="button"
            onClick={() => editor.change((before) => ({ ...before, planned_users: needed }), 'planned')}
          >
            Plan for them
          </button>
        )}
      </div>
    </details>
  );
};

/** What a success is, and how many people it takes to tell. */
export const Goal = ({ editor }: { editor: Editor }) => {
  const { conversions, planned_users } = editor.campaign.value;
  const goals = conversions ?? [];
  const put = (next: ConversionText[]) =>
    editor.change(
      ({ conversions: _, ...rest }) => (next.length > 0 ? { ...rest, conversions: next } : rest),
      'goals',
    );
  const change = (index: number, goal: ConversionText) =>
    put(goals.map((each, at) => (at === index ? goal : each)));
  return (
    <>
      <NameLists names={useNames()} />
      <section class="goals" id="conversions" tabIndex={-1} aria-label="Goals">
        <h2>What counts as a success?</h2>
        <p class="field-help">
          A person counts once for each goal, from the moment they first saw the campaign, or would have seen
          it in the control group.
        </p>
        <ul class="conditions">
          {goals.map((goal, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a goal is what stands at its position
            <li key={index} class="condition">
              <label class="condition-part">
                <span>They</span>
                <select
                  id={`goal-${index}`}
                  value={goal.product == null ? 'event' : 'product'}
                  onChange={(event) => {
                    const name = goal.event ?? goal.product ?? '';
                    const { within_hours } = goal;
                    change(
                      index,
                      event.currentTarget.value === 'event'
                        ? { event: name, within_hours }
                        : { product: name, within_hours },
                    );
                  }}
                >
                  <option value="event">do</option>
                  <option value="product">buy</option>
                </select>
              </label>
              <label class="condition-part wide">
                <span>{goal.product == null ? 'Event' : 'Product ID'}</span>
                <input
                  value={goal.event ?? goal.product ?? ''}
                  autoComplete="off"
                  list={goal.product == null ? EVENT_NAMES : PRODUCT_IDS}
                  onInput={(event) => {
                    const name = event.currentTarget.value;
                    const { within_hours } = goal;
                    change(
                      index,
                      goal.product == null ? { event: name, within_hours } : { product: name, within_hours },
                    );
                  }}
                />
              </label>
              <label class="condition-part">
                <span>Within days</span>
                <input
                  type="number"
                  min="0"
                  max="30"
                  step="any"
                  value={goal.within_hours / HOURS_A_DAY}
                  onInput={(event) => {
                    const days = event.currentTarget.valueAsNumber;
                    if (days > 0 && days <= 30) change(index, { ...goal, within_hours: days * HOURS_A_DAY });
                  }}
                />
              </label>
              <RemoveButton
                label="Remove this goal"
                onClick={() => {
                  put(goals.filter((_, at) => at !== index));
                  document.getElementById('add-goal')?.focus();
                }}
              />
            </li>
          ))}
        </ul>
        <button
          type="button"
          class="button"
          id="add-goal"
          disabled={goals.length >= MAX_GOALS}
          onClick={() => {
            put([...goals, { event: '', within_hours: 7 * HOURS_A_DAY }]);
            const at = goals.length;
            setTimeout(() => document.getElementById(`goal-${at}`)?.focus());
          }}
        >
          Add a goal
        </button>
        {checksAt(editor.checks.value, 'conversions').map(({ words, path }) => (
          <p key={path.join()} class="field-problem">
            {words}
          </p>
        ))}
      </section>
      <NumberField
        id="planned_users"
        label="Planned sample: people who should see it"
        help="Results name no winner before so many people saw a variant. Empty: at the end."
        min={1}
        checks={checksAt(editor.checks.value, 'planned_users')}
        value={planned_users}
        onChange={(people) =>
          editor.change(
            ({ planned_users: _, ...rest }) => (people === null ? rest : { ...rest, planned_users: people }),
            'planned',
          )
        }
      />
      <SampleSize editor={editor} />
    </>
  );
};
