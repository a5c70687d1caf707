import { render } from 'preact';
import './base.css';
import './controls.css';
import './components/components.css';
import { App } from './shell/app.tsx';
import { loadSession } from './shell/session.ts';

void loadSession();
render(<App />, document.body);
