import type { Banner } from '../../src/client/index.ts';
import type { PreviewMessage, PreviewReport } from '../shop/preview.ts';
import { node } from '../ui/node.ts';

const DEVICES = [
  { id: 'phone', name: 'Phone', width: 390, height: 800 },
  { id: 'tablet', name: 'Tablet', width: 768, height: 1024 },
  { id: 'desktop', name: 'Desktop', width: 1280, height: 800 },
] as const;

/** Which screen of the shop has the placement. */
const SCREENS: Readonly<Record<string, string>> = { checkout_strip: '#/cart' };

export interface Shown {
  placementId: string;
  banner: Banner | null;
  scheme: 'light' | 'dark';
}

const isReport = (data: unknown): data is PreviewReport =>
  typeof data === 'object' &&
  data !== null &&
  'type' in data &&
  String(data.type).startsWith('placard:preview-');

/** The shop in a phone, a tablet and a desktop window, each the real page at its real width, scaled to fit. */
export const createFrames = (onProblem: (problem: string | null) => void) => {
  let shown: Shown | null = null;
  const ready = new Set<MessageEventSource>();

  const send = (frame: HTMLIFrameElement) => {
    const target = frame.contentWindow;
    if (!shown || !target || !ready.has(target)) return;
    const { placementId, banner, scheme } = shown;
    const screen = SCREENS[placementId] ?? '#/';
    const message: PreviewMessage = {
      type: 'placard:preview',
      screen,
      placementId,
      scheme,
      banners: { [placementId]: banner },
    };
    target.postMessage(message, location.origin);
  };

  const frames = DEVICES.map(({ id, name, width, height }) => {
    const frame = node('iframe', { src: './index.html?preview', title: `The shop on a ${id}`, tabindex: -1 });
    const glass = node('div', { class: 'glass' }, [frame]);
    glass.style.setProperty('--device-width', String(width));
    glass.style.setProperty('--device-height', String(height));
    // The page keeps its real width; only its picture gets smaller.
    new ResizeObserver(() => glass.style.setProperty('--scale', String(glass.clientWidth / width))).observe(
      glass,
    );
    const element = node('figure', { class: `device device-${id}` }, [
      glass,
      node('figcaption', {}, [name, node('span', {}, [`${width} px`])]),
    ]);
    return { frame, element };
  });

  addEventListener('message', ({ origin, source, data }) => {
    const from = frames.find(({ frame }) => frame.contentWindow === source);
    if (origin !== location.origin || !from || !source || !isReport(data)) return;
    if (data.type === 'placard:preview-ready') {
      ready.add(source);
      send(from.frame);
      return;
    }
    onProblem(shown ? (data.problems[shown.placementId] ?? null) : null);
  });

  return {
    element: node(
      'div',
      { class: 'devices' },
      frames.map(({ element }) => element),
    ),
    show(next: Shown) {
      shown = next;
      for (const { frame } of frames) send(frame);
    },
  };
};
