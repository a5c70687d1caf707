import { useSignal } from '@preact/signals';
import type { GoalJson } from '../../campaign/campaign-json.ts';
import { formatNumber } from '../../campaign/format-number.ts';
import { requiredSampleSize } from '../../statistics/sample-size.ts';
import { Button, focusOnceRendered, into, RemoveButton, Select } from '../components/controls.tsx';
import { checksAt, IssueList, NumberField } from '../components/fields.tsx';
import { EVENT_NAMES, NameLists, PRODUCT_IDS, useNames } from '../components/suggestions.tsx';
import { ConditionPart } from './conditions.tsx';
import type { Editor } from './editor-state.ts';
import './blocks.css';

const MAX_GOALS = 4;
const MAX_DAYS = 30;
const HOURS_A_DAY = 24;

/** Calculator of the required sample size. */
const SampleSize = ({ editor }: { editor: Editor }) => {
  const rate = useSignal<number | null>(5);
  const lift = useSignal<number | null>(20);
  const needed = requiredSampleSize(editor.campaign.value, (rate.value ?? 0) / 100, (lift.value ?? 0) / 100);
  return (
    <details class="more">
      <summary>Sample size calculator</summary>
      <div class="stack">
        <div class="numbers">
          <NumberField
            id="sample-rate"
            label="Baseline rate (%)"
            max={100}
            isFraction
            value={rate.value}
            onChange={into(rate)}
          />
          <NumberField
            id="sample-lift"
            label="Minimum detectable lift (%)"
            max={1_000}
            isFraction
            value={lift.value}
            onChange={into(lift)}
          />
        </div>
        <p role="status">
          {needed === null
            ? 'Nothing to compare: add a variant, or a goal and a control group. The rate with its lift must be between 0% and 100%.'
            : `${formatNumber(needed)} users needed (80% power).`}
        </p>
        {needed !== null && (
          <Button onClick={() => editor.set('target_sample_size', needed)}>Use as target</Button>
        )}
      </div>
    </details>
  );
};

interface GoalRowProps {
  /** ID of the first control. */
  id: string;
  goal: GoalJson;
  onChange(goal: GoalJson): void;
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
      <div class="condition-part">
        <NumberField
          id={`${id}-days`}
          label="Within days"
          min={1 / HOURS_A_DAY}
          max={MAX_DAYS}
          isFraction
          isRequired
          value={within_hours / HOURS_A_DAY}
          onChange={(days) => days !== null && onChange({ ...goal, within_hours: days * HOURS_A_DAY })}
        />
      </div>
      <RemoveButton label="Remove goal" onClick={onRemove} />
    </li>
  );
};

/** Goals and the planned sample size. */
export const Goal = ({ editor }: { editor: Editor }) => {
  const { conversions, target_sample_size } = editor.campaign.value;
  const goals = conversions ?? [];
  const setGoals = (next: GoalJson[]) => editor.set('conversions', next.length > 0 ? next : null);
  return (
    <>
      <NameLists names={useNames()} />
      <section class="stack" id="conversions" tabIndex={-1} aria-label="Goals">
        <h2>Goals</h2>
        <p class="field-help">
          Each user counts once per goal, from their first impression (control group: first eligible request).
        </p>
        {goals.length > 0 && (
          <ul class="stack">
            {goals.map((goal, index) => (
              <GoalRow
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have no ID; the position identifies them
                key={index}
                id={`goal-${index}`}
                goal={goal}
                onChange={(changed) => setGoals(goals.with(index, changed))}
                onRemove={() => {
                  setGoals(goals.toSpliced(index, 1));
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
            setGoals([...goals, { event: '', within_hours: 7 * HOURS_A_DAY }]);
            const at = goals.length;
            focusOnceRendered(`goal-${at}`);
          }}
        >
          Add goal
        </Button>
        <IssueList checks={checksAt(editor.checks.value, 'conversions')} />
      </section>
      <NumberField
        id="target_sample_size"
        label="Target sample size"
        help="Users to reach before results name a winner. Empty: at the end."
        min={1}
        checks={checksAt(editor.checks.value, 'target_sample_size')}
        value={target_sample_size}
        onChange={(users) => editor.set('target_sample_size', users)}
      />
      <SampleSize editor={editor} />
    </>
  );
};
