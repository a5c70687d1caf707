import type { ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { AlertsResponse } from '../../server/routes/alerts.ts';
import { call } from '../call.ts';
import { Button } from '../components/controls.tsx';
import { Late, useLoad } from '../components/loading.tsx';
import { Announcer, Boundary, Problem } from '../components/notices.tsx';
import { ListScreen } from '../list/list-screen.tsx';
import { Login } from './login.tsx';
import { Link, path } from './router.tsx';
import { hasRole, loadSession, session, sessionProblem, signedIn, signOut } from './session.ts';
import './shell.css';

const CAMPAIGN = /^\/campaigns\/([^/]+)(?:\/(results|history))?$/;

/** Decodes the ID in a URL. Returns `null` if the percent-encoding is malformed, such as `%`. */
const decoded = (part: string): string | null => {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
};

const loadInvitation = async () => (await import('./invitation.tsx')).Invitation;
const loadCampaign = async () => (await import('../editor/campaign-screen.tsx')).CampaignScreen;

/** Lazy-loaded screens. */
const LATE_SCREENS: Readonly<Record<string, { title: string; load: () => Promise<ComponentType> }>> = {
  '/new': { title: 'New campaign', load: async () => (await import('../list/gallery.tsx')).Gallery },
  '/schedule': {
    title: 'Schedule',
    load: async () => (await import('../schedule/schedule-screen.tsx')).ScheduleScreen,
  },
  '/alerts': {
    title: 'Alerts',
    load: async () => (await import('../alerts/alerts-screen.tsx')).AlertsScreen,
  },
  '/segments': {
    title: 'Segments',
    load: async () => (await import('../segments/segments-screen.tsx')).SegmentsScreen,
  },
  '/holdout': {
    title: 'Holdout',
    load: async () => (await import('../results/results-tab.tsx')).HoldoutScreen,
  },
  '/explain': {
    title: 'Why',
    load: async () => (await import('../explain/explain-screen.tsx')).ExplainScreen,
  },
  '/data': { title: 'Data', load: async () => (await import('../data/data-screen.tsx')).DataScreen },
  '/access': {
    title: 'Access',
    load: async () => (await import('../access/access-screen.tsx')).AccessScreen,
  },
};

/** Screens that the navigation omits because the list and the bell link to them. */
const UNLISTED_PATHS = ['/new', '/alerts'];

/** Returns whether the operator and the workspace can use a screen. */
const mayOpen = (path: string): boolean => {
  if (path === '/access') return hasRole('admin');
  if (path === '/new') return hasRole('edit');
  return path !== '/holdout' || signedIn().workspace.holdout !== null;
};

const TABS = ['edit', 'results', 'history'] as const;

const getScreen = (current: string) => {
  const campaign = CAMPAIGN.exec(current);
  const id = campaign && decoded(campaign[1]!);
  if (campaign && id !== null) {
    const tab = TABS.find((each) => each === campaign[2]) ?? 'edit';
    return {
      key: id,
      title: 'Campaign',
      element: (
        <Late key={id} load={loadCampaign} isPage>
          {(Screen) => <Screen id={id} tab={tab} />}
        </Late>
      ),
    };
  }
  const late = LATE_SCREENS[current];
  if (late && mayOpen(current))
    return {
      key: current,
      title: late.title,
      element: (
        <Late key={current} load={late.load} isPage>
          {(Screen) => <Screen />}
        </Late>
      ),
    };
  if (current === '/') return { key: current, title: 'Campaigns', element: <ListScreen /> };
  return {
    key: current,
    title: 'Not found',
    element: <BrokenScreen title="Page not found" />,
  };
};

const BrokenScreen = ({ title, reason }: { title: string; reason?: string }) => (
  <Problem title={title} isPage>
    <p class="muted">{reason}</p>
    <Link to="/">Go to the campaigns</Link>
  </Problem>
);

/** Link to the alerts with their number. */
const Bell = () => {
  const { loaded } = useLoad(() => call<AlertsResponse>('GET', '/api/alerts'), path.value, {
    keepsLast: true,
  });
  const count = loaded.state === 'ready' ? loaded.value.alerts.length : 0;
  return (
    <Link to="/alerts" class="button quiet bell" current={path.value === '/alerts'}>
      <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
        <path
          d="M2.5 12h11L12 9.5V7a4 4 0 0 0-8 0v2.5zM6.5 14h3"
          fill="none"
          stroke="currentColor"
          stroke-width="1.5"
          stroke-linejoin="round"
          stroke-linecap="round"
        />
      </svg>
      <span class="visually-hidden">Alerts</span>
      {count > 0 && <b>{count}</b>}
    </Link>
  );
};

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
            !UNLISTED_PATHS.includes(to) &&
            mayOpen(to) && (
              <Link key={to} to={to} current={current === to}>
                {title}
              </Link>
            ),
        )}
      </nav>
      <div class="shell-who">
        <Bell />
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

/** Scrolls the navigation on phones. Does not use `scrollIntoView`, which would move the starting point of Tab to the link. */
const showCurrentLink = () => {
  const link = document.querySelector<HTMLElement>('.shell-nav [aria-current]');
  const nav = link?.parentElement;
  if (nav) nav.scrollLeft = link.offsetLeft - nav.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
};

/** Renders the screen of the URL, or the login page. */
export const App = () => {
  const who = session.value;
  const isInvitation = path.value === '/invitation';
  const screen = who && !isInvitation ? getScreen(path.value) : null;
  const current = who && path.value;
  const shown = useRef(current);
  useEffect(() => {
    // Moves the focus to the heading of a new screen, so that screen readers announce the screen and the focus is not lost with a
    // removed element.
    if (shown.current !== undefined && current && shown.current !== current)
      document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
    if (shown.current !== current) showCurrentLink();
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
      {isInvitation ? (
        <Late load={loadInvitation}>{(Screen) => <Screen />}</Late>
      ) : who === null ? (
        <Login />
      ) : (
        <>
          <Header />
          <main class="page" id="main" tabIndex={-1}>
            <Boundary
              key={screen?.key}
              instead={(reason) => <BrokenScreen title="Page failed to load" reason={reason} />}
            >
              {screen?.element}
            </Boundary>
          </main>
        </>
      )}
      <Announcer />
    </>
  );
};
