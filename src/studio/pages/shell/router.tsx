import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

/** Path of the current screen. */
export const path = signal(location.pathname);

const show = () => {
  path.value = location.pathname;
  scrollTo({ top: 0 });
};

export const navigate = (to: string, { replace = false }: { replace?: boolean } = {}): void => {
  if (to === location.pathname) return;
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  show();
};

addEventListener('popstate', show);

interface LinkProps {
  to: string;
  class?: string;
  children: ComponentChildren;
  current?: boolean;
}

/** Link to a screen without a page load. Modified clicks keep the browser's default. */
export const Link = ({ to, children, current = false, ...rest }: LinkProps) => (
  <a
    {...rest}
    href={to}
    aria-current={current ? 'page' : undefined}
    onClick={(event) => {
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      navigate(to);
    }}
  >
    {children}
  </a>
);

/** Returns the path of a campaign. `tab` is `''`, a tab such as `/results`, or a fragment such as `#audience`. */
export const campaignPath = (id: string, tab = ''): string => `/campaigns/${encodeURIComponent(id)}${tab}`;

interface CampaignLinkProps {
  id: string;
  name: string;
  tab?: string;
}

export const CampaignLink = ({ id, name, tab }: CampaignLinkProps) => (
  <Link to={campaignPath(id, tab)}>
    <bdi>{name}</bdi>
  </Link>
);
