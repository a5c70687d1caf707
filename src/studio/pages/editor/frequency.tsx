import type { FrequencyText, StopAfterText } from '../../campaign/campaign-text.ts';
import type { Editor } from './editor-state.ts';
import { checksAt } from './field.tsx';
import { NumberField } from './number-field.tsx';

const DEFAULT_DAYS = 7;
const MAX_DAYS = 30;

const STOPS: readonly { name: keyof StopAfterText; label: string }[] = [
  { name: 'impressions', label: 'Views' },
  { name: 'clicks', label: 'Clicks' },
  { name: 'conversions', label: 'Goals reached' },
];

/** Without members that say nothing; `null` where nothing is left. */
const shortened = ({ impressions, stop_after }: FrequencyText): FrequencyText | null => {
  const stops = Object.entries(stop_after ?? {}).filter(([, count]) => count != null);
  const short = {
    ...(impressions && { impressions }),
    ...(stops.length > 0 && { stop_after: Object.fromEntries(stops) }),
  };
  return Object.keys(short).length > 0 ? short : null;
};

/** How often one person sees it. */
export const Frequency = ({ editor }: { editor: Editor }) => {
  const { frequency, conversions } = editor.campaign.value;
  const { impressions, stop_after } = frequency ?? {};
  const put = (changed: FrequencyText) => {
    const next = shortened({ ...frequency, ...changed });
    editor.change(
      ({ frequency: _, ...rest }) => (next === null ? rest : { ...rest, frequency: next }),
      'frequency',
    );
  };
  const checks = checksAt(editor.checks.value, 'frequency');
  const hasGoals = (conversions ?? []).length > 0;
  return (
    <fieldset class="field" id="frequency" tabIndex={-1}>
      <legend class="label">How often one person sees it</legend>
      <div class="numbers">
        <NumberField
          id="frequency-max"
          label="Views at most"
          min={1}
          value={impressions?.max}
          onChange={(max) =>
            put({ impressions: max === null ? null : { max, days: impressions?.days ?? DEFAULT_DAYS } })
          }
        />
        {impressions && (
          <NumberField
            id="frequency-days"
            label="Within days"
            min={1}
            max={MAX_DAYS}
            value={impressions.days}
            onChange={(days) => put({ impressions: { ...impressions, days: days ?? 1 } })}
          />
        )}
      </div>
      <p class="label">No more after</p>
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
      <p class="field-help">Empty: without a limit. It is decided each time a page asks, over all devices.</p>
      {checks.map(({ words }) => (
        <p key={words} class="field-problem">
          {words}
        </p>
      ))}
    </fieldset>
  );
};
