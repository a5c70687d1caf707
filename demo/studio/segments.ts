import { node } from '../ui/node.ts';

interface SegmentsOptions<Value extends string> {
  label: string;
  options: readonly { value: Value; name: string }[];
  chosen: Value;
  onChoose(value: Value): void;
}

let groups = 0;

/** One choice of a few, side by side: radio buttons, so that arrow keys and screen readers know what it is. */
export const segments = <Value extends string>({
  label,
  options,
  chosen,
  onChoose,
}: SegmentsOptions<Value>) => {
  groups += 1;
  const name = `segments-${groups}`;
  return node('fieldset', { class: 'segments' }, [
    node('legend', {}, [label]),
    ...options.map(({ value, name: text }) =>
      node('label', {}, [
        node('input', { type: 'radio', name, value, checked: value === chosen }, [], {
          change: () => onChoose(value),
        }),
        node('span', {}, [text]),
      ]),
    ),
  ]);
};
