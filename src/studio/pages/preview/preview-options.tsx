import type { Signal } from '@preact/signals';
import { Segments } from '../parts/segments.tsx';
import { placementName } from '../shell/session.ts';

const TEMPLATES = [
  { value: 'hero', name: 'Hero' },
  { value: 'card', name: 'Card' },
  { value: 'strip', name: 'Strip' },
] as const;
export type Template = (typeof TEMPLATES)[number]['value'];
export type Trial = 'isRightToLeft' | 'isLargeText' | 'hasLongWords';
const TRIALS: readonly { trial: Trial; name: string }[] = [
  { trial: 'isRightToLeft', name: 'Right to left' },
  { trial: 'isLargeText', name: 'Text at 200 %' },
  { trial: 'hasLongWords', name: 'Long words' },
];

interface PreviewOptionsProps {
  placements: readonly string[];
  placement: string;
  onPlacement(id: string): void;
  template: Template;
  onTemplate(template: Template): void;
  trials: Signal<Trial[]>;
}

/** Where and as what it is drawn, and what a banner has to bear. */
export const PreviewOptions = (props: PreviewOptionsProps) => {
  const { placements, placement, onPlacement, template, onTemplate, trials } = props;
  return (
    <details class="more">
      <summary>Placement, template, and what breaks banners</summary>
      <div class="preview-more">
        {placements.length > 1 && (
          <Segments
            label="Placement"
            options={placements.map((id) => ({ value: id, name: placementName(id) }))}
            chosen={placement}
            onChoose={onPlacement}
          />
        )}
        <Segments label="Template" options={TEMPLATES} chosen={template} onChoose={onTemplate} />
        <fieldset>
          <legend class="label">Try it with</legend>
          <div class="choices">
            {TRIALS.map(({ trial, name }) => (
              <label key={trial} class="check-label">
                <input
                  type="checkbox"
                  checked={trials.value.includes(trial)}
                  onChange={(event) => {
                    const isOn = event.currentTarget.checked;
                    trials.value = isOn
                      ? [...trials.value, trial]
                      : trials.value.filter((each) => each !== trial);
                  }}
                />
                {name}
              </label>
            ))}
          </div>
        </fieldset>
      </div>
    </details>
  );
};
