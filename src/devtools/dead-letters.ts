import type { DeadLetter, Placard } from '../client/index.ts';
import { button, node } from './node.ts';

/** What the service would not take: each may be sent again or discarded. */
export const createDeadLetters = (placard: Placard, changed: () => void) => {
  const element = node('ul', { class: 'cards' });
  const act = (label: string, work: () => Promise<void>) => button([label], () => void work().then(changed));
  return {
    element,
    draw(letters: readonly DeadLetter[]): void {
      const items = letters.map(({ key, event, reason, attempts }) =>
        node('li', { class: 'letter' }, [
          node('p', {}, [
            `Kept aside after ${attempts} attempts: a ${event.type} in ${event.placementId} (${reason}).`,
          ]),
          act('Send it again', () => placard.retryDeadLetters([key])),
          act('Discard it', () => placard.discardDeadLetters([key])),
        ]),
      );
      element.replaceChildren(...items);
    },
  };
};
