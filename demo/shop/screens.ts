import { type ShopVerbs, type View, viewOf } from './views.ts';

/** Puts a banner into an element; answers how to take it out again. */
export type ShowPlacement = (placementId: string, element: HTMLElement) => () => void;

/** Shows the screen of the address and keeps its placements mounted for as long as it is there. */
export const createScreens = (main: HTMLElement, verbs: ShopVerbs, show: ShowPlacement) => {
  let view: View | undefined;
  let unmounts: (() => void)[] = [];

  const draw = () => {
    for (const unmount of unmounts) unmount();
    view?.leave?.();
    view = viewOf(location.hash, verbs);
    main.replaceChildren(view.screen);
    unmounts = view.slots.map(({ placementId, element }) => show(placementId, element));
    document.title = view.title;
  };
  addEventListener('hashchange', () => {
    draw();
    // A screen of a single page is a new page to people: it begins at its top.
    scrollTo({ top: 0 });
    main.focus({ preventScroll: true });
  });
  return { draw };
};
