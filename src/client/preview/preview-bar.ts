const CSS = `
  :host { all: initial; position: fixed; inset: auto 0 0; z-index: 2147483647; color-scheme: only light }
  section {
    display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; justify-content: center; padding: 8px 16px;
    font: 15px/1.4 system-ui, sans-serif; color: #fff; background: #1f1f24; border-block-start: 3px solid #ffb224
  }
  p { margin: 0; overflow-wrap: anywhere }
  button {
    min-block-size: 44px; padding: 0 16px; font: inherit; font-weight: 600; color: #1f1f24; background: #fff;
    border: 0; border-radius: 6px; cursor: pointer
  }
  button:focus-visible { outline: 3px solid #ffb224; outline-offset: 2px }`;

/** A bar at the foot of the page that says what is previewed, and ends it. Needs no exception from the page's policy. */
export const showPreviewBar = (text: string, onEnd: () => void): (() => void) => {
  const host = document.createElement('placard-preview');
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(CSS);
  root.adoptedStyleSheets = [sheet];
  const section = document.createElement('section');
  section.setAttribute('aria-label', 'Preview');
  const words = document.createElement('p');
  words.role = 'status';
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'End preview';
  button.addEventListener('click', onEnd);
  section.append(words, button);
  root.append(section);
  document.body.append(host);
  // After it is in the page, so that it is read out.
  words.textContent = text;
  return () => host.remove();
};
