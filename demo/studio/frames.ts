import type { Banner } from '../../src/client/index.ts';
import type { PreviewMessage, PreviewReport } from '../shop/preview.ts';
import { node } from '../ui/node.ts';
import type { DraftProblem } from './draft-problem.ts';
import { segments } from './segments.ts';

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

/**
 * The shop in a phone, a tablet and a desktop window, each the real page at its real width, scaled to fit; and the choice
 * of one of them.
 */
export const createFrames = (onDrawn: (problems: DraftProblem[]) => void) => {
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
    return { id, frame, element };
  });

  addEventListener('message', ({ origin, source, data }) => {
    const from = frames.find(({ frame }) => frame.contentWindow === source);
    if (origin !== location.origin || !from || !source || !isReport(data)) return;
    if (data.type === 'placard:preview-ready') {
      ready.add(source);
      send(from.frame);
      return;
    }
    onDrawn(shown ? (data.problems[shown.placementId] ?? []) : []);
  });

  /** Where there is room for one device alone; the others stay as they are, unseen. */
  const choose = (device: string) => {
    for (const { id, element } of frames) element.toggleAttribute('data-away', id !== device);
  };
  choose(DEVICES[0].id);

  return {
    element: node(
      'div',
      { class: 'devices' },
      frames.map(({ element }) => element),
    ),
    choice: node('div', { class: 'device-choice' }, [
      segments({
        label: 'Device',
        options: DEVICES.map(({ id, name }) => ({ value: id, name })),
        chosen: DEVICES[0].id,
        onChoose: choose,
      }),
    ]),
    show(next: Shown) {
      shown = next;
      for (const { frame } of frames) send(frame);
    },
  };
};
