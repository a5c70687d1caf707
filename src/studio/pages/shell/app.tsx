import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { SignInOptions } from '../../server/sign-in.ts';
import { call, Refused } from '../call.ts';
import { CampaignScreen } from '../editor/campaign-screen.tsx';
import { ListScreen } from '../list/list-screen.tsx';
import { Button } from '../parts/controls.tsx';
import { Announcer, Boundary, Problem } from '../parts/problem.tsx';
import { LoadView, useAction, useLoad } from '../parts/server.tsx';
import { HoldoutScreen } from '../results/results-tab.tsx';
import { Link, path } from './address.tsx';
import { hasEnded, loadSession, may, session, sessionProblem, signedIn, signOut } from './session.ts';
import './shell.css';

const CAMPAIGN = /^\/campaigns\/([^/]+)(?:\/(results|history))?$/;

/** The ID in an address; `null` for one that nobody can have encoded, as `%`. */
const decoded = (part: string): string | null => {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
};

/** Screens that are loaded when they are first opened: most people come for the campaigns. */
const LATE_SCREENS: Readonly<Record<string, { title: string; load: () => Promise<ComponentType> }>> = {
  '/new': { title: 'New campaign', load: async () => (await import('../list/gallery.tsx')).Gallery },
  '/segments': {
    title: 'Segments',
    load: async () => (await import('../segments/segments-screen.tsx')).SegmentsScreen,
  },
  '/holdout': { title: 'Holdout', load: async () => HoldoutScreen },
  '/why': { title: 'Why', load: async () => (await import('../why/why-screen.tsx')).WhyScreen },
  '/data': { title: 'Data', load: async () => (await import('../data/data-screen.tsx')).DataScreen },
  '/access': {
    title: 'Access',
    load: async () => (await import('../access/access-screen.tsx')).AccessScreen,
  },
};

/** Whether a screen is of use to this operator, in this workspace. */
const mayOpen = (path: string): boolean => {
  if (path === '/access') return may('admin');
  if (path === '/new') return may('edit');
  return path !== '/holdout' || signedIn().workspace.holdout !== null;
};

const LateScreen = ({ load }: { load: () => Promise<ComponentType> }) => {
  const { loaded, again } = useLoad(load, '');
  return (
    <LoadView loaded={loaded} again={again} isPage>
      {(Screen) => <Screen />}
    </LoadView>
  );
};

const screenOf = (current: string) => {
  const campaign = CAMPAIGN.exec(current);
  const id = campaign && decoded(campaign[1]!);
  if (campaign && id !== null) {
    const tab = (campaign[2] ?? 'edit') as 'edit' | 'results' | 'history';
    return { key: id, title: 'Campaign', element: <CampaignScreen key={id} id={id} tab={tab} /> };
  }
  const late = LATE_SCREENS[current];
  if (late && mayOpen(current))
    return { key: current, title: late.title, element: <LateScreen key={current} load={late.load} /> };
  if (current === '/') return { key: current, title: 'Campaigns', element: <ListScreen /> };
  return {
    key: current,
    title: 'Not found',
    element: (
      <Problem title="There is no such page" isPage>
        <Link to="/">Go to the campaigns</Link>
      </Problem>
    ),
  };
};

const BrokenScreen = ({ reason }: { reason: string }) => (
  <Problem title="This page cannot be shown" isPage>
    <p class="muted">{reason}</p>
    <Link to="/">Go to the campaigns</Link>
  </Problem>
);

const Header = () => {
  const { operator, workspace } = signedIn();
  const current = path.value;
  return (
    <header class="row shell-head">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Link to="/" class="shell-mark">
        <img src="/mark.svg" alt="" width="28" height="28" />
        <span class="shell-name">
          <b>Studio</b>
          <span>{workspace.name}</span>
        </span>
      </Link>
      <nav class="row shell-nav" aria-label="Studio">
        <Link to="/" current={current === '/' || current.startsWith('/campaigns')}>
          Campaigns
        </Link>
        {Object.entries(LATE_SCREENS).map(
          ([to, { title }]) =>
            // One comes there from the list.
            to !== '/new' &&
            mayOpen(to) && (
              <Link key={to} to={to} current={current === to}>
                {title}
              </Link>
            ),
        )}
      </nav>
      <div class="shell-who">
        <span class="shell-operator">
          <bdi>{operator.name}</bdi> <span class="muted">{operator.role}</span>
        </span>
        <Button look="quiet" onClick={() => void signOut()}>
          Sign out
        </Button>
      </div>
    </header>
  );
};

/** The screen that the address names, for whoever is signed in. */
export const App = () => {
  const who = session.value;
  const screen = who ? screenOf(path.value) : null;
  const current = who && path.value;
  const shown = useRef(current);
  useEffect(() => {
    // A new screen is announced by its heading: the focus would stay on a link or a sign-in that is gone.
    if (shown.current !== undefined && current && shown.current !== current)
      document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
    shown.current = current;
    if (screen && who) document.title = `${screen.title} · ${who.workspace.name} · Studio`;
  });
  if (sessionProblem.value !== null) {
    return (
      <main class="page">
        <Problem title={sessionProblem.value} isPage>
          <Button onClick={() => void loadSession()}>Try again</Button>
        </Problem>
      </main>
    );
  }
  if (who === undefined) return <div class="page" aria-busy="true" />;
  return (
    <>
      {who === null ? (
        <Login />
      ) : (
        <>
          <Header />
          <main class="page" id="main" tabIndex={-1}>
            <Boundary key={screen?.key} instead={(reason) => <BrokenScreen reason={reason} />}>
              {screen?.element}
            </Boundary>
          </main>
        </>
      )}
      <Announcer />
    </>
  );
};

/** What an identity provider's way back has said, which is no more than text. */
const saidBefore = (): string | null => {
  const problem = new URLSearchParams(location.search).get('problem');
  if (problem !== null) history.replaceState(null, '', location.pathname);
  return problem;
};

/** Signs an operator in: with the key that `placard operator new` printed, or through an identity provider. */
export const Login = () => {
  const key = useSignal('');
  const input = useRef<HTMLInputElement>(null);
  const signIn = useAction(async () => {
    try {
      if (key.value.trim() === '') throw new Refused('Enter your operator key.');
      await call('POST', '/api/session', { body: { key: key.value } });
    } catch (error) {
      input.current?.focus();
      input.current?.select();
      throw error;
    }
    hasEnded.value = false;
    await loadSession();
  });
  const { problem } = signIn;
  const options = useLoad(() => call<SignInOptions>('GET', '/api/sign-in'), 'sign-in').loaded;
  const providers = options.state === 'ready' ? options.value.providers : [];
  useEffect(() => {
    document.title = 'Sign in · Studio';
    problem.value = saidBefore();
    input.current?.focus();
  }, [problem]);

  return (
    <main class="login" id="main">
      <form
        class="login-card"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void signIn.run();
        }}
      >
        <img src="/mark.svg" alt="" width="44" height="44" />
        <h1>Placard Studio</h1>
        <p class="muted">
          {hasEnded.value
            ? 'Your session has ended. Sign in again, and you are where you were.'
            : 'Write campaigns, look at them, publish them, see what came of them.'}
        </p>
        {providers.map(({ workspaceId, name, host }) => (
          <a
            key={workspaceId}
            class="button"
            href={`/openid/start?workspace=${encodeURIComponent(workspaceId)}`}
          >
            Sign in to {name} with {host}
          </a>
        ))}
        <label for="key">Operator key</label>
        <input
          ref={input}
          id="key"
          type="password"
          autoComplete="current-password"
          spellcheck={false}
          value={key.value}
          aria-invalid={problem.value !== null}
          aria-describedby="key-problem key-help"
          onInput={(event) => {
            key.value = event.currentTarget.value;
            problem.value = null;
          }}
        />
        <p class="field-problem" id="key-problem" role="alert">
          {problem.value ?? (options.state === 'failed' ? options.words : null)}
        </p>
        <Button type="submit" look="primary" disabled={signIn.isBusy.value}>
          {signIn.isBusy.value ? 'Signing in …' : 'Sign in'}
        </Button>
        <p class="field-help" id="key-help">
          No key yet? The person who runs the service makes one with <code>placard operator new</code>.
        </p>
      </form>
    </main>
  );
};
