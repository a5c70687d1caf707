import { useSignal } from '@preact/signals';
import type { ConversionJson } from '../../campaign/campaign-json.ts';
import { requiredSampleSize } from '../../statistics/sample-size.ts';
import { Button, into, RemoveButton, Select } from '../components/controls.tsx';
import { checksAt, IssueList, NumberField } from '../components/fields.tsx';
import { countText } from '../components/format.ts';
import { EVENT_NAMES, NameLists, PRODUCT_IDS, useNames } from '../components/suggestions.tsx';
import { ConditionPart } from './conditions.tsx';
import type { Editor } from './editor-state.ts';
import './blocks.css';

const MAX_GOALS = 4;
const HOURS_A_DAY = 24;

/** Calculator of the required sample size. */
const SampleSize = ({ editor }: { editor: Editor }) => {
  const rate = useSignal<number | null>(5);
  const lift = useSignal<number | null>(20);
  const needed = requiredSampleSize(editor.campaign.value, (rate.value ?? 0) / 100, (lift.value ?? 0) / 100);
  return (
    <details class="more">
      <summary>How many people does it take?</summary>
      <div class="stack">
        <div class="numbers">
          <NumberField
            id="sample-rate"
            label="So many do it today, %"
            max={100}
            isFraction
            value={rate.value}
            onChange={into(rate)}
          />
          <NumberField
            id="sample-lift"
            label="A lift worth seeing, %"
            max={1_000}
            isFraction
            value={lift.value}
            onChange={into(lift)}
          />
        </div>
        <p role="status">
          {needed === null
            ? 'Nothing to compare: it takes a second variant, or a goal and a control group, and a rate above 0 that stays below 100 % with its lift.'
            : `About ${countText(needed)} people: then such a change is found four times of five.`}
        </p>
        {needed !== null && (
          <Button onClick={() => editor.set('target_sample_size', needed)}>Plan for them</Button>
        )}
      </div>
    </details>
  );
};

interface GoalRowProps {
  /** ID of its first control. */
  id: string;
  goal: ConversionJson;
  onChange(goal: ConversionJson): void;
  onRemove(): void;
}

const GoalRow = ({ id, goal, onChange, onRemove }: GoalRowProps) => {
  const { within_hours } = goal;
  const kind = goal.product == null ? 'event' : 'product';
  const name = goal.event ?? goal.product ?? '';
  return (
    <li class="row low sunk condition">
      <ConditionPart label="They">
        <Select
          id={id}
          value={kind}
          options={[
            { value: 'event', name: 'do' },
            { value: 'product', name: 'buy' },
          ]}
          onChoose={(chosen) => onChange({ [chosen]: name, within_hours })}
        />
      </ConditionPart>
      <ConditionPart label={kind === 'event' ? 'Event' : 'Product ID'} isWide>
        <input
          value={name}
          autoComplete="off"
          list={kind === 'event' ? EVENT_NAMES : PRODUCT_IDS}
          onInput={(event) => onChange({ [kind]: event.currentTarget.value, within_hours })}
        />
      </ConditionPart>
      <ConditionPart label="Within days">
        <input
          type="number"
          min="0"
          max="30"
          step="any"
          value={within_hours / HOURS_A_DAY}
          onInput={(event) => {
            const days = event.currentTarget.valueAsNumber;
            if (days > 0 && days <= 30) onChange({ ...goal, within_hours: days * HOURS_A_DAY });
          }}
        />
      </ConditionPart>
      <RemoveButton label="Remove this goal" onClick={onRemove} />
    </li>
  );
};

/** Goals and the planned sample size. */
export const Goal = ({ editor }: { editor: Editor }) => {
  const { conversions, target_sample_size } = editor.campaign.value;
  const goals = conversions ?? [];
  const put = (next: ConversionJson[]) => editor.set('conversions', next.length > 0 ? next : null);
  return (
    <>
      <NameLists names={useNames()} />
      <section class="stack" id="conversions" tabIndex={-1} aria-label="Goals">
        <h2>What counts as a success?</h2>
        <p class="field-help">
          A person counts once for each goal, from the moment they first saw the campaign, or would have seen
          it in the control group.
        </p>
        {goals.length > 0 && (
          <ul class="stack">
            {goals.map((goal, index) => (
              <GoalRow
                // biome-ignore lint/suspicious/noArrayIndexKey: a goal is what stands at its position
                key={index}
                id={`goal-${index}`}
                goal={goal}
                onChange={(changed) => put(goals.with(index, changed))}
                onRemove={() => {
                  put(goals.toSpliced(index, 1));
                  document.getElementById('add-goal')?.focus();
                }}
              />
            ))}
          </ul>
        )}
        <Button
          id="add-goal"
          disabled={goals.length >= MAX_GOALS}
          onClick={() => {
            put([...goals, { event: '', within_hours: 7 * HOURS_A_DAY }]);
            const at = goals.length;
            setTimeout(() => document.getElementById(`goal-${at}`)?.focus());
          }}
        >
          Add a goal
        </Button>
        <IssueList checks={checksAt(editor.checks.value, 'conversions')} />
      </section>
      <NumberField
        id="target_sample_size"
        label="Planned sample: people who should see it"
        help="Results name no winner before so many people saw a variant. Empty: at the end."
        min={1}
        checks={checksAt(editor.checks.value, 'target_sample_size')}
        value={target_sample_size}
        onChange={(people) => editor.set('target_sample_size', people)}
      />
      <SampleSize editor={editor} />
    </>
  );
};
