import { TEMPLATE_PROPERTIES, type TemplateProperty } from '../../src/templates/index.ts';
import { node } from '../ui/node.ts';
import { labelOf } from './draft-problem.ts';
import { type InputOptions, propertyInput } from './property-input.ts';

interface FieldOptions extends Omit<InputOptions, 'onUnreadable'> {
  onRemove(): void;
}

/** What is to be told beside a field. */
interface Remarks {
  /** Why it is refused, or not drawn. */
  problem: string | null;
  /** What is taken and may not be meant. */
  hint: string | null;
}

/** One property with its label, its input, and what there is to say of both. */
export const propertyField = ({ onRemove, ...options }: FieldOptions) => {
  const { name, property } = options;
  const template: TemplateProperty | undefined = TEMPLATE_PROPERTIES.find((each) => each.name === name);
  const id = `property-${name}`;
  // The line on the stage is read out already, but for what only the form knows: that JSON is not whole yet.
  const role = property.type === 'jsonobject' ? 'alert' : null;
  const problem = node('p', { class: 'field-problem', id: `${id}-problem`, role });
  const hint = node('p', { class: 'field-hint', id: `${id}-hint`, role: 'status' });
  const help = node('p', { class: 'field-help', id: `${id}-help` }, [
    template?.help ?? 'Not read by the ready-made templates; your own hook gets it.',
  ]);
  let unreadable: string | null = null;
  let told: Remarks = { problem: null, hint: null };
  const draw = () => {
    const words = unreadable ?? told.problem ?? '';
    // A screen reader reads it again where only the same words were written again.
    if (problem.textContent !== words) problem.textContent = words;
    if (hint.textContent !== (told.hint ?? '')) hint.textContent = told.hint;
    if (words === '') control.removeAttribute('aria-invalid');
    else control.setAttribute('aria-invalid', 'true');
  };
  const { element, control } = propertyInput(
    {
      ...options,
      onUnreadable(words) {
        unreadable = words;
        draw();
      },
    },
    id,
  );
  control.setAttribute('aria-describedby', [problem.id, hint.id, help.id].join(' '));
  const label = labelOf(name);
  return {
    name,
    element: node('div', { class: `field field-${property.type}` }, [
      node('label', { for: id }, [label, template ? null : node('span', { class: 'tag' }, [property.type])]),
      element,
      problem,
      hint,
      help,
      node('button', { type: 'button', class: 'remove', 'aria-label': `Remove ${label}` }, ['Remove'], {
        click: onRemove,
      }),
    ]),
    tell(remarks: Remarks) {
      told = remarks;
      draw();
    },
  };
};
