import { useEffect, useRef } from 'preact/hooks';
import { AccessScreen } from '../access/access-screen.tsx';
import { DataScreen } from '../data/data-screen.tsx';
import { CampaignScreen } from '../editor/campaign-screen.tsx';
import { ListScreen } from '../list/list-screen.tsx';
import { Announcer } from '../parts/announce.tsx';
import { Boundary, Problem } from '../parts/problem.tsx';
import { WhyScreen } from '../why/why-screen.tsx';
import { Link, path } from './address.tsx';
import { Login } from './login.tsx';
import { loadSession, may, session, sessionProblem, signedIn, signOut } from './session.ts';
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

const screenOf = (current: string) => {
  const campaign = CAMPAIGN.exec(current);
  const id = campaign && decoded(campaign[1]!);
  if (campaign && id !== null) {
    const tab = (campaign[2] ?? 'edit') as 'edit' | 'results' | 'history';
    return { key: id, title: 'Campaign', element: <CampaignScreen key={id} id={id} tab={tab} /> };
  }
  if (current === '/access') return { key: current, title: 'Access', element: <AccessScreen /> };
  if (current === '/data') return { key: current, title: 'Data', element: <DataScreen /> };
  if (current === '/why') return { key: current, title: 'Why', element: <WhyScreen /> };
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
    <header class="shell-head">
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
      <nav class="shell-nav" aria-label="Studio">
        <Link to="/" current={current === '/' || current.startsWith('/campaigns')}>
          Campaigns
        </Link>
        <Link to="/why" current={current === '/why'}>
          Why
        </Link>
        <Link to="/data" current={current === '/data'}>
          Data
        </Link>
        {may('admin') && (
          <Link to="/access" current={current === '/access'}>
            Access
          </Link>
        )}
      </nav>
      <div class="shell-who">
        <span class="shell-operator">
          <bdi>{operator.name}</bdi> <span class="muted">{operator.role}</span>
        </span>
        <button type="button" class="button quiet" onClick={() => void signOut()}>
          Sign out
        </button>
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
          <button type="button" class="button" onClick={() => void loadSession()}>
            Try again
          </button>
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
