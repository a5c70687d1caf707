import '../ui/base.css';
import './studio.css';
import { node } from '../ui/node.ts';
import { askOverview } from './ask-server.ts';
import { createStudio } from './studio.ts';

const root = node('div', { class: 'studio' }, [
  node('p', { class: 'loading', role: 'status' }, ['Opening …']),
]);
document.body.append(root);

try {
  root.replaceChildren(createStudio(await askOverview()));
} catch (problem) {
  const reason = problem instanceof Error ? problem.message : String(problem);
  root.replaceChildren(
    node('div', { class: 'empty' }, [
      node('h1', {}, ['The Studio could not open']),
      node('p', { role: 'alert' }, [`${reason}. Is the demo's server running?`]),
      node('a', { class: 'primary', href: './studio.html' }, ['Try again']),
    ]),
  );
}
