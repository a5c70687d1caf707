import { node } from './node.ts';

/** A switch with a sentence on what it does. */
export const createSwitch = (label: string, help: string, onChange: (isOn: boolean) => void) => {
  const element = node(
    'button',
    { type: 'button', role: 'switch', class: 'switch', 'aria-checked': 'false' },
    [node('span', { class: 'switch-label' }, [label]), node('span', { class: 'switch-help' }, [help])],
    { click: () => onChange(element.getAttribute('aria-checked') !== 'true') },
  );
  return {
    element,
    set: (isOn: boolean): void => element.setAttribute('aria-checked', String(isOn)),
  };
};
