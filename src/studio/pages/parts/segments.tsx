import { useId } from 'preact/hooks';

interface SegmentsProps<Value extends string> {
  label: string;
  options: readonly { value: Value; name: string }[];
  chosen: Value;
  onChoose(value: Value): void;
  isLabelHidden?: boolean;
}

/** One choice of a few, side by side: radio buttons, so that arrow keys and screen readers know them. */
export const Segments = <Value extends string>(props: SegmentsProps<Value>) => {
  const { label, options, chosen, onChoose, isLabelHidden = false } = props;
  const name = useId();
  return (
    <fieldset class="segments">
      <legend class={isLabelHidden ? 'visually-hidden' : undefined}>{label}</legend>
      <div class="segments-row">
        {options.map((option) => (
          <label key={option.value}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === chosen}
              onChange={() => onChoose(option.value)}
            />
            <span>{option.name}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
};
