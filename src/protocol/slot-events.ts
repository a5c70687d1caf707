/** Methods of a slot that track events. */
export interface SlotEvents {
  /**
   * Tracks a click. Resolves when the click is durable, or was not accepted. Before a navigation, wait for it with a short
   * timeout (templates use 250 milliseconds), because until the rest of the client is loaded the click is only in memory.
   * `buttonId` names the clicked link or button, at most 255 characters, so that results count its clicks.
   */
  click(buttonId?: string): Promise<void>;
  /** Hides the banner at once, in this tab and all others, and tracks one dismissal. */
  dismiss(): Promise<void>;
}

const nothing = async (): Promise<void> => undefined;

/** Methods of a slot without a client, such as during server-side rendering and in previews. */
export const INERT_METHODS: SlotEvents & { snooze(): Promise<void> } = {
  click: nothing,
  dismiss: nothing,
  snooze: nothing,
};
