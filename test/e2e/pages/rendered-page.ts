import { hydrateRoot } from 'react-dom/client';
import { createLocalPlacard } from './local-placard.ts';
import { APP_ID, reactPage, vuePage } from './rendered-tree.ts';

const bootstrap = JSON.parse(document.querySelector('#bootstrap')!.textContent!);
const { placard, told } = createLocalPlacard(APP_ID, bootstrap);
const root = document.querySelector('#root')!;
const faults: string[] = [];
Object.assign(window, { told, faults });

if (location.pathname === '/vue') vuePage({ placard, bootstrap }).mount(root);
else {
  hydrateRoot(root, reactPage({ placard, bootstrap }), {
    onRecoverableError: (cause) => void faults.push(String(cause)),
  });
}
