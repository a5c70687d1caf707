import './panel.css';
import type { Fault, Faults } from '../shop/faults.ts';
import { node } from '../ui/node.ts';

const SWITCHES: readonly { fault: Fault; label: string; help: string }[] = [
  { fault: 'offline', label: 'No network', help: 'Requests fail, as when offline' },
  { fault: 'down', label: 'Service down', help: 'Every response is a 503' },
  { fault: 'busy', label: 'Too many requests', help: 'Every response is a 429: retry in 8 s' },
  { fault: 'bad-event', label: 'One bad event', help: 'The next batch loses a timestamp' },
];

const faultSwitch = (faults: Faults, { fault, label, help }: (typeof SWITCHES)[number]) => {
  const button = node(
    'button',
    { type: 'button', role: 'switch', class: 'switch' },
    [node('span', { class: 'switch-label' }, [label]), node('span', { class: 'switch-help' }, [help])],
    { click: () => faults.set(fault, !faults.isOn(fault)) },
  );
  const draw = () => button.setAttribute('aria-checked', String(faults.isOn(fault)));
  faults.subscribe(draw);
  draw();
  return button;
};

/** Creates the panel with the devtools and switches that simulate faults. */
export const createPanel = (faults: Faults): { panel: HTMLElement; devtools: HTMLElement } => {
  const devtools = node('div', { class: 'panel-devtools' });
  const panel = node('aside', { class: 'panel', 'aria-label': 'SDK activity' }, [
    node('div', { class: 'panel-body', id: 'panel-body' }, [
      node('h2', {}, ['Developer panel']),
      node('p', { class: 'panel-lead' }, ['SDK activity while you shop.']),
      devtools,
      node('section', { class: 'faults' }, [
        node('h3', {}, ['Simulate faults']),
        ...SWITCHES.map((each) => faultSwitch(faults, each)),
      ]),
    ]),
  ]);
  const toggle = node(
    'button',
    { type: 'button', class: 'panel-toggle', 'aria-controls': 'panel-body', 'aria-expanded': 'false' },
    ['Developer panel'],
    {
      click: () => {
        const open = panel.toggleAttribute('data-open');
        toggle.setAttribute('aria-expanded', String(open));
      },
    },
  );
  panel.prepend(toggle);
  return { panel, devtools };
};
